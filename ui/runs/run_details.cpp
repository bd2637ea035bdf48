#include "ui/runs/run_details.h"

#include <QApplication>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/database/run_database.h"
#include "ui/texts/run_status.h"
#include "ui/texts/terminal_text.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/output_box.h"

namespace batchscope::ui {

namespace {

constexpr int most_lines = 8;

} // namespace

RunDetails::RunDetails(RunDatabase& run_database, QWidget* parent)
    : QWidget(parent), run_database_(run_database), card_(new Card({}, this)), reason_(new QLabel(card_)),
      output_(new OutputBox(most_lines, card_)) {
  reason_->setObjectName(QStringLiteral("reason"));
  reason_->setTextFormat(Qt::PlainText);
  reason_->setWordWrap(true);
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  card_->body()->addWidget(reason_);
  card_->body()->addWidget(output_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_);
  hide();
  // The table gets smaller then, and a second click of a double click would miss its row.
  soon_.setSingleShot(true);
  soon_.setInterval(QApplication::doubleClickInterval());
  connect(&soon_, &QTimer::timeout, this, &RunDetails::show_reason);
}

void RunDetails::show_run(const store::RunRow* run) {
  if (run == nullptr || run->outcome.reason.empty() || telemetry::is_open(run->outcome.status)) {
    run_.reset();
    soon_.stop();
    hide();
    return;
  }
  const bool shown = run_ && run_->id == run->id && run_->outcome.status == run->outcome.status &&
                     run_->outcome.reason == run->outcome.reason;
  run_ = *run;
  if (shown)
    return;
  if (isVisible())
    show_reason(); // the table keeps its size, more or less
  else
    soon_.start();
}

void RunDetails::show_reason() {
  const telemetry::RunOutcome& outcome = run_->outcome;
  const bool failed = outcome.status == telemetry::RunStatus::failed;
  card_->set_title(failed ? tr("Run %1 failed").arg(run_->id)
                          : tr("Run %1: %2").arg(run_->id).arg(status_text(status_name(outcome.status))));
  card_->set_alarming(failed);
  reason_->setText(QString::fromStdString(outcome.reason));
  output_->show_output({});
  show();
  Q_EMIT appeared();
  if (failed && run_->settings.program)
    run_database_.describe(run_->id, this, [this](const StoredRun& stored, const QString& /*error*/) { take(stored); });
}

void RunDetails::take(const StoredRun& stored) {
  if (!run_ || stored.row.id != run_->id || isHidden())
    return;
  output_->show_output(QString::fromStdString(stored.output));
  Q_EMIT appeared();
}

} // namespace batchscope::ui

#include "moc_run_details.cpp"
