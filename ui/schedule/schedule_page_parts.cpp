// Layout and header of the page.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/schedule/plan_cards.h"
#include "ui/schedule/schedule_form.h"
#include "ui/schedule/schedule_page.h"
#include "ui/schedule/schedule_plots.h"
#include "ui/texts/run_status.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr double side_width = 19; // in lines of text

} // namespace

void SchedulePage::make_actions() {
  apply_action_ = make_command(this, tr("Apply the schedule"), tr("Apply the change at the next step of the run"),
                               Qt::CTRL | Qt::Key_Return);
  connect(apply_action_, &QAction::triggered, &editor_, &PlanEditor::apply);
  discard_action_ =
      make_command(this, tr("Discard the change"), tr("Go back to the current plan"), Qt::CTRL | Qt::Key_Backspace);
  connect(discard_action_, &QAction::triggered, this, [this] {
    start_wanted_ = false;
    editor_.discard();
    form_->set_schedule(editor_.schedule());
    form_->set_error({});
    show_header();
  });
  start_action_ =
      make_command(this, tr("Start this run"), tr("Train with this plan"), Qt::CTRL | Qt::SHIFT | Qt::Key_Return);
  connect(start_action_, &QAction::triggered, this, &SchedulePage::start_draft);
  copy_action_ =
      make_command(this, tr("Copy as command line"), tr("Copy the batchscope-cli command that trains with this plan"),
                   Qt::CTRL | Qt::SHIFT | Qt::Key_C);
  connect(copy_action_, &QAction::triggered, this, [this] {
    QApplication::clipboard()->setText(train_command(draft_spec(), workbench_.run_database().database()));
    Q_EMIT workbench_.note(tr("Command line copied to the clipboard."));
  });
  undo_action_ = workbench_.undo_stack().createUndoAction(this);
  undo_action_->setIcon(workbench_.theme().icon(QStringLiteral("undo")));
  redo_action_ = workbench_.undo_stack().createRedoAction(this);
  redo_action_->setIcon(workbench_.theme().icon(QStringLiteral("redo")));
}

QWidget* SchedulePage::make_header() {
  auto* header = new QWidget(this);
  header->setObjectName(QStringLiteral("header"));
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(page_title(tr("Schedule"), header));
  edited_ = new QComboBox(header);
  edited_->setObjectName(QStringLiteral("edited"));
  edited_->setAccessibleName(tr("Plan to edit"));
  edited_->setToolTip(tr("A draft, or the remaining steps of a run"));
  edited_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  edited_->setMinimumWidth(Theme::lines(6)); // texts must fit the window, not enlarge it
  edited_->setMaximumWidth(Theme::lines(26));
  row->addWidget(edited_);
  pill_ = new Pill(header);
  row->addWidget(pill_);
  says_ = dimmed_label({}, header);
  says_->setObjectName(QStringLiteral("says"));
  says_->setMinimumWidth(1);
  row->addWidget(says_);
  row->addStretch(1);
  for (QAction* action : {undo_action_, redo_action_}) {
    auto* button = new QToolButton(header);
    button->setDefaultAction(action);
    button->setObjectName(action == undo_action_ ? QStringLiteral("undo") : QStringLiteral("redo"));
    row->addWidget(button);
  }
  const auto add = [&](QPushButton* button, QAction* action, const char* name) {
    button->setObjectName(QLatin1String(name));
    button->setToolTip(action->toolTip());
    connect(button, &QPushButton::clicked, action, &QAction::trigger);
    row->addWidget(button);
    return button;
  };
  discard_ = add(plain_button(tr("Discard"), header), discard_action_, "discard");
  apply_ = add(filled_button(tr("Apply"), header), apply_action_, "apply");
  copy_ = add(plain_button(tr("Copy as command line"), header), copy_action_, "copy");
  again_ = plain_button(tr("Use as draft"), header);
  again_->setObjectName(QStringLiteral("again"));
  again_->setToolTip(tr("Create a draft from the settings of this run"));
  connect(again_, &QPushButton::clicked, this, [this] {
    if (editor_.run() != nullptr)
      edit_proposed(run::RunSpec(editor_.run()->spec()));
  });
  row->addWidget(again_);
  start_ = add(filled_button(tr("Start this run"), header), start_action_, "start");
  return header;
}

QWidget* SchedulePage::make_body() {
  body_ = new QWidget(this);
  auto* layout = new QVBoxLayout(body_);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(10);
  form_ = new ScheduleForm(body_);
  layout->addWidget(form_);
  auto* row = new QHBoxLayout;
  row->setSpacing(10);
  auto* frame = new Card({}, body_);
  plots_ = new SchedulePlots(workbench_.theme(), frame);
  frame->layout()->setContentsMargins(10, 6, 10, 6);
  frame->body()->addWidget(plots_);
  undrawn_ = new EmptyState(tr("Sizes depend on the run"),
                            tr("This schedule depends on values measured during the run: its loss, tokens or memory. "
                               "Its batch sizes cannot be drawn in advance."),
                            {}, frame);
  undrawn_->hide();
  frame->body()->addWidget(undrawn_);
  row->addWidget(frame, 1);
  cards_ = new PlanCards(body_);
  cards_->setObjectName(QStringLiteral("cards"));
  auto* scroll = new QScrollArea(body_);
  scroll->setWidget(cards_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFixedWidth(Theme::lines(side_width));
  row->addWidget(scroll);
  layout->addLayout(row, 1);
  return body_;
}

void SchedulePage::show_header() {
  const OpenRun* run = editor_.run();
  const bool draft = run == nullptr;
  const bool preview = editor_.has_preview();
  const bool good = editor_.error().isEmpty();
  const bool pending = run != nullptr && run->pending_edit();
  if (draft)
    pill_->show_text(tr("draft"), Pill::Tone::neutral);
  else if (preview)
    pill_->show_text(tr("not applied yet"), Pill::Tone::warning);
  else if (pending)
    pill_->show_text(tr("pending"), Pill::Tone::warning);
  else
    pill_->show_text(status_text(run->status()), run->running() ? Pill::Tone::accent : Pill::Tone::neutral);
  pill_->setVisible(has_draft_ || run != nullptr);
  QString says;
  if (run != nullptr && pending)
    says = run->paused()
               ? tr("takes effect at the next step; the run is paused at step %1").arg(format_count(run->steps()))
               : tr("takes effect at the next step");
  else if (run != nullptr)
    says = tr("step %1").arg(format_count(run->steps()));
  says_->setText(says);

  discard_->setVisible(preview);
  apply_->setVisible(!draft && changeable());
  const QString wrong = tr("The schedule has an error");
  allow(*apply_action_, preview && good, preview ? wrong : tr("No changes"));
  apply_->setEnabled(preview && good);
  allow(*discard_action_, preview, tr("No changes"));
  copy_->setVisible(draft && has_draft_);
  start_->setVisible(draft && has_draft_);
  const QString& read_only = workbench_.run_database().read_only();
  start_->setEnabled(good && read_only.isEmpty());
  const QString no_draft = draft ? tr("There is no draft yet") : tr("A run is shown, not a draft");
  allow(*start_action_, draft && has_draft_ && good && read_only.isEmpty(),
        !draft || !has_draft_ ? no_draft
        : good                ? read_only
                              : wrong);
  allow(*copy_action_, draft && has_draft_ && good, draft && has_draft_ ? wrong : no_draft);
  copy_->setEnabled(good);
  again_->setVisible(run != nullptr && !run->running() && run->start());
}

void SchedulePage::show_prediction() {
  const bool known = editor_.memory() && editor_.limit_bytes() > 0;
  if (known || !editor_.is_draft())
    return cards_->set_prediction(known ? QString() : tr("No memory prediction for this run."), false);
  const bool waiting = prediction_ && prediction_->state() == Job::State::waiting;
  if (waiting || (prediction_ && prediction_->state() == Job::State::working)) {
    const Job* working = workbench_.engine().working();
    return cards_->set_prediction(waiting && working != nullptr ? tr("Queued behind: %1").arg(working->title())
                                                                : tr("Running two small probes."),
                                  false);
  }
  const bool failed = prediction_ && prediction_->state() == Job::State::failed;
  cards_->set_prediction(failed ? prediction_->error()
                                : tr("Two small probes predict the memory of every batch size in this plan."),
                         true);
}

} // namespace batchscope::ui
