#include "ui/runs/run_details.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/database/run_database.h"
#include "ui/output/output_view.h"
#include "ui/texts/run_status.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/output_box.h"

namespace batchscope::ui {

namespace {

constexpr int most_lines = 8;
constexpr double output_height = 15; ///< lines

bool has_details(const store::RunRow& run) {
  const telemetry::RunOutcome& outcome = run.outcome;
  return run.settings.program ? outcome.status != telemetry::RunStatus::queued
                              : !outcome.reason.empty() && !telemetry::is_open(outcome.status);
}

} // namespace

RunDetails::RunDetails(RunDatabase& run_database, const Theme& theme, QWidget* parent)
    : QWidget(parent), run_database_(run_database), card_(new Card({}, this)), reason_(new QLabel(card_)),
      show_(plain_button(tr("Show output"), card_)), end_(new OutputBox(most_lines, card_)),
      output_(new OutputView(theme, card_)) {
  reason_->setObjectName(QStringLiteral("reason"));
  reason_->setTextFormat(Qt::PlainText);
  reason_->setWordWrap(true);
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  show_->setCheckable(true);
  show_->setToolTip(tr("Show what the program wrote, to read and to search"));
  output_->setFixedHeight(Theme::lines(output_height));
  output_->hide();
  output_->tools()->hide();
  auto* row = new QHBoxLayout;
  row->addWidget(reason_, 1);
  row->addWidget(show_, 0, Qt::AlignTop);
  card_->body()->addLayout(row);
  card_->body()->addWidget(end_);
  card_->body()->addWidget(output_->tools());
  card_->body()->addWidget(output_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_);
  hide();
  // The table gets smaller then, and a second click of a double click would miss its row.
  soon_.setSingleShot(true);
  soon_.setInterval(QApplication::doubleClickInterval());
  connect(&soon_, &QTimer::timeout, this, &RunDetails::show_details);
  connect(show_, &QPushButton::toggled, this, &RunDetails::show_output);
  connect(output_, &OutputView::problem, this, &RunDetails::problem);
}

void RunDetails::show_run(const store::RunRow* run) {
  if (run == nullptr || !has_details(*run)) {
    run_.reset();
    soon_.stop();
    output_->show_none();
    hide();
    return;
  }
  const bool same = run_ && run_->id == run->id;
  const bool shown = same && run_->outcome.status == run->outcome.status && run_->outcome.reason == run->outcome.reason;
  if (!same)
    output_->show_none();
  run_ = *run;
  if (shown)
    return;
  if (isVisible())
    show_details(); // the table keeps its size, more or less
  else
    soon_.start();
}

void RunDetails::show_details() {
  const telemetry::RunOutcome& outcome = run_->outcome;
  const bool failed = outcome.status == telemetry::RunStatus::failed;
  card_->set_title(failed ? tr("Run %1 failed").arg(run_->id)
                          : tr("Run %1: %2").arg(run_->id).arg(status_text(status_name(outcome.status))));
  card_->set_alarming(failed);
  reason_->setText(QString::fromStdString(outcome.reason.empty() ? run_->settings.model.value_or("") : outcome.reason));
  show_->setVisible(run_->settings.program);
  end_->show_output({});
  set_output_visible(run_->settings.program && show_->isChecked());
  show();
  Q_EMIT appeared();
  if (run_->settings.program && (failed || show_->isChecked()))
    ask_for_output();
}

void RunDetails::show_output(bool shown) {
  show_->setText(shown ? tr("Hide output") : tr("Show output"));
  set_output_visible(shown);
  end_->show_output({});
  if (shown)
    output_->setFocus(Qt::OtherFocusReason);
  Q_EMIT appeared();
  ask_for_output();
}

void RunDetails::set_output_visible(bool visible) {
  output_->tools()->setVisible(visible);
  output_->setVisible(visible);
}

void RunDetails::ask_for_output() {
  run_database_.describe(run_->id, this, [this](const StoredRun& stored, const QString& /*error*/) { take(stored); });
}

void RunDetails::take(const StoredRun& stored) {
  if (!run_ || stored.row.id != run_->id || isHidden())
    return;
  const auto end = QString::fromStdString(stored.output);
  if (show_->isChecked()) {
    const bool known = stored.start && stored.start->program;
    output_->show_output({.file = known ? QString::fromStdString(stored.start->program->output) : QString(),
                          .grows = run_->outcome.status == telemetry::RunStatus::running,
                          .stored_end = end});
  } else {
    end_->show_output(end);
    Q_EMIT appeared();
  }
}

} // namespace batchscope::ui

#include "moc_run_details.cpp"
