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
  apply_action_ =
      make_command(this, tr("Apply the schedule"), tr("Puts the change in at the next step boundary of the run"),
                   Qt::CTRL | Qt::Key_Return);
  connect(apply_action_, &QAction::triggered, &editor_, &PlanEditor::apply);
  discard_action_ =
      make_command(this, tr("Discard the change"), tr("Goes back to the plan as it is"), Qt::CTRL | Qt::Key_Backspace);
  connect(discard_action_, &QAction::triggered, this, [this] {
    start_wanted_ = false;
    editor_.discard();
    form_->set_schedule(editor_.schedule());
    form_->set_error({});
    show_header();
  });
  start_action_ =
      make_command(this, tr("Start this run"), tr("Trains with this plan"), Qt::CTRL | Qt::SHIFT | Qt::Key_Return);
  connect(start_action_, &QAction::triggered, this, &SchedulePage::start_draft);
  copy_action_ =
      make_command(this, tr("Copy as command line"), tr("The call of batchscope-cli that trains with this plan"),
                   Qt::CTRL | Qt::SHIFT | Qt::Key_C);
  connect(copy_action_, &QAction::triggered, this, [this] {
    QApplication::clipboard()->setText(train_command(draft_spec(), workbench_.run_database().database()));
    Q_EMIT workbench_.note(tr("The command line is on the clipboard."));
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
  edited_->setAccessibleName(tr("What is planned"));
  edited_->setToolTip(tr("A draft before anything runs, or the future of a run that goes on"));
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
  again_ = plain_button(tr("Plan it again"), header);
  again_->setObjectName(QStringLiteral("again"));
  again_->setToolTip(tr("Makes a draft of this run"));
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
  undrawn_ = new EmptyState(tr("The run decides"),
                            tr("This schedule looks at what the run measures: its loss, its tokens or its memory. "
                               "Its sizes cannot be drawn before it runs."),
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
    says = run->paused() ? tr("waits for the next step; the run is paused at step %1").arg(format_count(run->steps()))
                         : tr("is put in at the next step boundary");
  else if (run != nullptr)
    says = tr("step %1").arg(format_count(run->steps()));
  says_->setText(says);

  discard_->setVisible(preview);
  apply_->setVisible(!draft && changeable());
  const QString wrong = tr("The schedule is wrong");
  allow(*apply_action_, preview && good, preview ? wrong : tr("Nothing was changed"));
  apply_->setEnabled(preview && good);
  allow(*discard_action_, preview, tr("Nothing was changed"));
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
    return cards_->set_prediction(known ? QString() : tr("Nothing has foretold this run's memory."), false);
  const bool waiting = prediction_ && prediction_->state() == Job::State::waiting;
  if (waiting || (prediction_ && prediction_->state() == Job::State::working)) {
    const Job* working = workbench_.engine().working();
    return cards_->set_prediction(waiting && working != nullptr ? tr("Waits for: %1").arg(working->title())
                                                                : tr("Two small sizes are run."),
                                  false);
  }
  const bool failed = prediction_ && prediction_->state() == Job::State::failed;
  cards_->set_prediction(failed ? prediction_->error()
                                : tr("Two small sizes, run for real, foretell what every size of this plan needs."),
                         true);
}

} // namespace batchscope::ui
