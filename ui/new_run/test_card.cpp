#include "ui/new_run/test_card.h"

#include <QVBoxLayout>

#include "core/program/trial/tryout.h"
#include "ui/widgets/format.h"
#include "ui/workbench/output_box.h"

namespace batchscope::ui {

namespace {

constexpr int most_lines = 12;

QString fact(const QString& name, const QString& value) {
  return QStringLiteral("<span style=\"white-space: nowrap\">%1 <b>%2</b></span>")
      .arg(name.toHtmlEscaped(), value.toHtmlEscaped());
}

QString facts_of(const program::Tryout& tried) {
  QStringList facts;
  if (tried.step_seconds)
    facts.append(fact(TestCard::tr("step"), format_duration(*tried.step_seconds)));
  if (tried.batch)
    facts.append(fact(TestCard::tr("batch size"),
                      tried.changed_batch ? TestCard::tr("%1, changed to %2 on request")
                                                .arg(format_count(*tried.batch), format_count(*tried.changed_batch))
                                          : format_count(*tried.batch)));
  if (tried.start && tried.start->train_examples > 0)
    facts.append(fact(TestCard::tr("examples"), format_count(tried.start->train_examples)));
  if (tried.peak_bytes)
    facts.append(fact(TestCard::tr("peak memory"), format_bytes(static_cast<double>(*tried.peak_bytes))));
  if (tried.start && !tried.start->program->framework.empty())
    facts.append(fact(TestCard::tr("framework"), QString::fromStdString(tried.start->program->framework)));
  return facts.join(QStringLiteral(" &nbsp;&nbsp;&nbsp;&nbsp; "));
}

} // namespace

TestCard::TestCard(QWidget* parent)
    : Card(tr("Test"), parent), text_(dimmed_label({}, this)), output_(new OutputBox(most_lines, this)),
      facts_(dimmed_label({}, this)) {
  text_->setObjectName(QStringLiteral("test-text"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  facts_->setObjectName(QStringLiteral("test-facts"));
  facts_->setWordWrap(true);
  facts_->setTextFormat(Qt::RichText);
  body()->addWidget(text_);
  body()->addWidget(output_);
  body()->addWidget(facts_);
  show_none();
}

void TestCard::show_none() {
  set_title(tr("Test"));
  set_alarming(false);
  text_->setText(tr("Runs the program for a few steps, shows what it writes, and says which level it reaches and what "
                    "to change to reach the next. Nothing is stored."));
  text_->show();
  facts_->hide();
  output_->show_output({});
}

void TestCard::show_working(const QString& activity) {
  set_title(tr("Test"));
  set_alarming(false);
  text_->setText(activity.isEmpty() ? tr("Starting the program…") : activity);
  text_->show();
  facts_->hide();
  output_->show_output({});
}

void TestCard::show_result(const program::Tryout& tried) {
  const bool failed = tried.status == telemetry::RunStatus::failed;
  const QString took = format_duration(tried.seconds);
  set_title(tried.steps == 1  ? tr("Test: 1 step in %1").arg(took)
            : tried.steps > 1 ? tr("Test: %1 steps in %2").arg(format_count(tried.steps), took)
            : failed          ? tr("Test: failed after %1").arg(took)
                              : tr("Test: ran for %1, reported no step").arg(took));
  set_alarming(failed);
  text_->setText(QString::fromStdString(tried.reason));
  text_->setVisible(!tried.reason.empty());
  facts_->setText(facts_of(tried));
  facts_->setVisible(!facts_->text().isEmpty());
  output_->show_output(QString::fromStdString(tried.output));
}

void TestCard::show_failure(const QString& error) {
  show_none();
  set_alarming(true);
  text_->setText(error);
}

} // namespace batchscope::ui

#include "moc_test_card.cpp"
