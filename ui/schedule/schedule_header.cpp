#include "ui/schedule/schedule_header.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "ui/opened_runs/open_run.h"
#include "ui/texts/run_status.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

QString says_of(const OpenRun* run) {
  if (run == nullptr)
    return {};
  const QString step = format_count(run->steps());
  if (const QString fixed = run->not_steerable(); run->running() && !fixed.isEmpty())
    return ScheduleHeader::tr("step %1 · %2").arg(step, fixed);
  if (!run->has_pending())
    return ScheduleHeader::tr("step %1").arg(step);
  return run->paused() ? ScheduleHeader::tr("takes effect at the next step; the run is paused at step %1").arg(step)
                       : ScheduleHeader::tr("takes effect at the next step");
}

} // namespace

ScheduleHeader::ScheduleHeader(const Actions& actions, QWidget* parent)
    : QWidget(parent), plans_(new QComboBox(this)), pill_(new Pill(this)), says_(dimmed_label({}, this)) {
  setObjectName(QStringLiteral("header"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(page_title(tr("Schedule"), this));
  make_plans();
  row->addWidget(plans_);
  row->addWidget(pill_);
  says_->setObjectName(QStringLiteral("says"));
  says_->setMinimumWidth(1);
  row->addWidget(says_);
  row->addStretch(1);
  for (QAction* action : {actions.undo, actions.redo}) {
    auto* button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setObjectName(action == actions.undo ? QStringLiteral("undo") : QStringLiteral("redo"));
    row->addWidget(button);
  }
  const auto add = [&](QPushButton* button, QAction* action, const char* name) {
    button->setObjectName(QLatin1String(name));
    button->setToolTip(action->toolTip());
    connect(button, &QPushButton::clicked, action, &QAction::trigger);
    row->addWidget(button);
    return button;
  };
  discard_ = add(plain_button(tr("Discard"), this), actions.discard, "discard");
  apply_ = add(filled_button(tr("Apply"), this), actions.apply, "apply");
  copy_ = add(plain_button(tr("Copy as command line"), this), actions.copy, "copy");
  again_ = plain_button(tr("Use as draft"), this);
  again_->setObjectName(QStringLiteral("again"));
  again_->setToolTip(tr("Create a draft from the settings of this run"));
  connect(again_, &QPushButton::clicked, this, &ScheduleHeader::again_wanted);
  row->addWidget(again_);
  start_ = add(filled_button(tr("Start this run"), this), actions.start, "start");
}

void ScheduleHeader::make_plans() {
  plans_->setObjectName(QStringLiteral("edited"));
  plans_->setAccessibleName(tr("Plan to edit"));
  plans_->setToolTip(tr("A draft, or the remaining steps of a run"));
  plans_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  plans_->setMinimumWidth(Theme::lines(6)); // texts must fit the window, not enlarge it
  plans_->setMaximumWidth(Theme::lines(26));
}

void ScheduleHeader::show_pill(const State& state) {
  if (state.run == nullptr)
    pill_->show_text(tr("draft"), Pill::Tone::neutral);
  else if (state.preview)
    pill_->show_text(tr("not applied yet"), Pill::Tone::warning);
  else if (state.run->has_pending())
    pill_->show_text(tr("pending"), Pill::Tone::warning);
  else
    pill_->show_text(status_text(state.run->status()), state.run->paused()    ? Pill::Tone::warning
                                                       : state.run->running() ? Pill::Tone::accent
                                                                              : Pill::Tone::neutral);
  pill_->setVisible(state.has_draft || state.run != nullptr);
}

void ScheduleHeader::show_state(const State& state) {
  const bool draft = state.run == nullptr;
  show_pill(state);
  says_->setText(says_of(state.run));
  discard_->setVisible(state.preview);
  apply_->setVisible(!draft && state.changeable);
  apply_->setEnabled(state.preview && state.good);
  copy_->setVisible(draft && state.has_draft);
  copy_->setEnabled(state.good);
  start_->setVisible(draft && state.has_draft);
  start_->setEnabled(state.good && state.writable);
  again_->setVisible(!draft && !state.run->running() && state.run->plannable());
}

} // namespace batchscope::ui

#include "moc_schedule_header.cpp"
