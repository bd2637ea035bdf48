#include "ui/schedule/schedule_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QJsonObject>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/run/spec_keys.h"
#include "ui/opened_runs/budget_edit.h"
#include "ui/schedule/plan_cards.h"
#include "ui/schedule/schedule_form.h"
#include "ui/schedule/schedule_header.h"
#include "ui/schedule/schedule_plots.h"
#include "ui/schedule/share_change.h"
#include "ui/schedule/shares_field.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/commands.h"
#include "ui/workbench/known_prediction.h"
#include "ui/workbench/known_start.h"

namespace batchscope::ui {

namespace {

constexpr std::int64_t usual_batch = 32; // if it is unknown what fits
constexpr qint64 draft_choice = 0;       // runs are numbered from 1
constexpr double side_width = 19;        // in lines of text

} // namespace

SchedulePage::SchedulePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), editor_(workbench.undo_stack(), workbench.job_queue().data()),
      memory_(workbench) {
  make_actions();
  empty_ = new EmptyState(tr("Plan a run before it starts"),
                          tr("See batch size, coverage, epochs, learning rate and memory over the whole training, and "
                             "change the plan by typing or dragging, also for the remaining steps of a run."),
                          tr("Plan a run on the demo images"), this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(make_body());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 12, 12, 12);
  layout->setSpacing(10);
  header_ = new ScheduleHeader({.apply = apply_action_,
                                .discard = discard_action_,
                                .start = start_action_,
                                .copy = copy_action_,
                                .undo = undo_action_,
                                .redo = redo_action_},
                               this);
  edited_ = header_->plans();
  layout->addWidget(header_);
  layout->addWidget(stack_, 1);
  new_events_.setSingleShot(true);
  new_events_.setInterval(0);
  connect_parts();
  list_choices();
  if (OpenRun* run = workbench_.current())
    edit_run(run);
  show_header();
}

void SchedulePage::make_actions() {
  apply_action_ = make_command(this, tr("Apply the schedule"), tr("Apply the change at the next step of the run"),
                               Qt::CTRL | Qt::Key_Return);
  connect(apply_action_, &QAction::triggered, this, &SchedulePage::apply);
  discard_action_ =
      make_command(this, tr("Discard the change"), tr("Go back to the current plan"), Qt::CTRL | Qt::Key_Backspace);
  connect(discard_action_, &QAction::triggered, this, [this] {
    start_wanted_ = false;
    editor_.discard();
    form_->set_schedule(editor_.schedule());
    form_->set_error({});
    form_->shares().discard();
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
  undrawn_ =
      new EmptyState(tr("Sizes depend on the run"),
                     tr("This plan depends on values measured during the run: loss, tokens, memory or gradient noise. "
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

void SchedulePage::connect_parts() {
  connect(empty_, &EmptyState::action_chosen, this, [this] { edit_proposed({}); });
  connect(&editor_, &PlanEditor::plan_changed, this, &SchedulePage::show_plan);
  connect(&editor_, &PlanEditor::memory_changed, this, [this] {
    if (!isVisible())
      return; // shown with the page
    plots_->update_plan(editor_);
    cards_->show_plan(editor_);
    show_prediction();
  });
  connect(&editor_, &PlanEditor::error_changed, this, [this] {
    form_->set_error(editor_.error());
    show_header();
  });
  connect(&editor_, &PlanEditor::applied, this, [this] {
    show_header();
    if (std::exchange(start_wanted_, false))
      start(draft_spec());
  });
  connect(&editor_, &PlanEditor::apply_refused, this, [this](const QString& why) {
    start_wanted_ = false;
    if (editor_.error().isEmpty()) // else it is shown at the field
      Q_EMIT workbench_.problem(tr("The plan was not changed: %1").arg(why));
  });
  connect(&editor_, &PlanEditor::draft_changed, this, [this] {
    if (editor_.is_draft())
      show_draft();
    else if (isVisible() && !editor_.has_preview())
      return_to_draft(); // makes the undone change visible
  });
  connect(form_, &ScheduleForm::typed, this, &SchedulePage::type);
  connect(form_, &ScheduleForm::shares_typed, this, &SchedulePage::show_header);
  connect(form_, &ScheduleForm::entered, this, &SchedulePage::apply);
  connect(form_, &ScheduleForm::dismissed, discard_action_, &QAction::trigger);
  connect(form_, &ScheduleForm::draft_edited, this, &SchedulePage::change_draft);
  connect(plots_, &SchedulePlots::dragged, this, &SchedulePage::drag);
  connect(plots_, &SchedulePlots::dropped, this, &SchedulePage::drop);
  connect(plots_, &SchedulePlots::budget_dropped, this, [this](double bytes) {
    if (OpenRun* run = editor_.run())
      return workbench_.undo_stack().push(new BudgetEdit(*run, static_cast<std::uint64_t>(bytes)));
    DraftPlan draft = editor_.draft();
    draft.spec.memory_budget = static_cast<std::uint64_t>(bytes);
    change_draft(draft);
  });
  connect(&new_events_, &QTimer::timeout, this, &SchedulePage::show_plan);
  connect(&plots_->plots(), &LinkedPlots::problem, &workbench_, &Workbench::problem);
  connect(&plots_->plots(), &LinkedPlots::saved, this,
          [this](const QString& file) { Q_EMIT workbench_.note(tr("Saved: %1").arg(file)); });
  connect(cards_, &PlanCards::prediction_wanted, this, [this] { memory_.probe(draft_spec()); });
  connect(&memory_, &DraftMemory::known_changed, this, [this] {
    if (!editor_.is_draft())
      return;
    const auto& known = memory_.known();
    editor_.set_memory(known ? std::optional(known->curve) : std::nullopt, known ? known->limit_bytes : 0);
  });
  connect(&memory_, &DraftMemory::text_changed, this, &SchedulePage::show_prediction);
  connect(edited_, &QComboBox::activated, this, &SchedulePage::choose);
  connect(header_, &ScheduleHeader::again_wanted, this, [this] {
    if (editor_.run() != nullptr && editor_.run()->spec())
      edit_again(*editor_.run());
  });

  // Queued, so that the page is visible by then.
  const auto wanted = [this](const QString& page) {
    if (page == key())
      take_keyboard(std::exchange(proposed_, false));
  };
  connect(&workbench_, &Workbench::page_wanted, this, wanted, Qt::QueuedConnection);
  connect(&workbench_, &Workbench::run_proposed, this, &SchedulePage::edit_proposed);
  connect(&workbench_, &Workbench::plan_proposed, this, [this](const run::RunSpec& spec) {
    proposed_ = edit_proposed(spec);
    if (!proposed_)
      Q_EMIT workbench_.problem(tr("Test the program first: its examples are not known"));
  });
  connect(&workbench_, &Workbench::opened_changed, this, &SchedulePage::list_choices);
  connect(&workbench_.run_database(), &RunDatabase::read_only_changed, this, &SchedulePage::show_header);
  connect(&workbench_, &Workbench::names_changed, this, [this] {
    list_choices();
    show_plan();
  });
  connect(&workbench_, &Workbench::current_changed, this, [this] {
    // Does not replace a draft that the user is editing.
    if (workbench_.current() != nullptr && !editor_.has_preview())
      edit_run(workbench_.current());
  });
}

void SchedulePage::show_header() {
  const bool draft = editor_.run() == nullptr;
  const bool preview = editor_.has_preview() || (!draft && form_->shares().changed());
  const bool good = editor_.error().isEmpty() && form_->shares().error().isEmpty();
  const QString& read_only = workbench_.run_database().read_only();
  header_->show_state({.run = editor_.run(),
                       .has_draft = has_draft_,
                       .preview = preview,
                       .changeable = changeable(),
                       .good = good,
                       .writable = read_only.isEmpty()});
  const QString wrong = tr("The schedule has an error");
  allow(*apply_action_, preview && good, preview ? wrong : tr("No changes"));
  allow(*discard_action_, preview, tr("No changes"));
  const bool has_draft = draft && has_draft_;
  const QString no_draft = draft ? tr("There is no draft yet") : tr("A run is shown, not a draft");
  allow(*start_action_, has_draft && good && read_only.isEmpty(), !has_draft ? no_draft : good ? read_only : wrong);
  allow(*copy_action_, has_draft && good, has_draft ? wrong : no_draft);
}

void SchedulePage::show_prediction() {
  const bool known = editor_.memory() && editor_.limit_bytes() > 0;
  if (known || !editor_.is_draft())
    return cards_->set_prediction(known ? QString() : tr("No memory prediction for this run."), false);
  cards_->set_prediction(memory_.text(), memory_.can_probe());
}

/// Lists the draft and all opened runs.
void SchedulePage::list_choices() {
  // The edited run may have been closed.
  const qint64 edited = editor_.run() != nullptr ? editor_.run()->id() : draft_choice;
  edited_->clear();
  edited_->addItem(tr("Draft"), draft_choice);
  for (const OpenRun* run : workbench_.opened())
    edited_->addItem(tr("Run %1: %2").arg(run->id()).arg(run->name()), QVariant::fromValue<qint64>(run->id()));
  const int index = edited_->findData(edited);
  edited_->setCurrentIndex(std::max(index, 0));
  if (index >= 0)
    return;
  if (has_draft_)
    return_to_draft();
  else
    edit_nothing();
}

void SchedulePage::edit_nothing() {
  let_go_of_run();
  editor_.edit_run(nullptr);
  stack_->setCurrentWidget(empty_);
  show_header();
}

/// The user wants to edit the schedule of the current run, or the draft that was just proposed.
void SchedulePage::take_keyboard(bool of_draft) {
  OpenRun* run = workbench_.current();
  if (!of_draft && run != nullptr && run != editor_.run() && !editor_.has_preview())
    edit_run(run);
  form_->focus_schedule();
}

void SchedulePage::let_go_of_run() {
  if (OpenRun* run = editor_.run())
    run->disconnect(this);
  form_->shares().show_none();
  start_wanted_ = false;
}

void SchedulePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  show_plan();
}

void SchedulePage::choose(int index) {
  const qint64 id = edited_->itemData(index).toLongLong();
  if (OpenRun* run = id == draft_choice ? nullptr : workbench_.find_opened(id))
    edit_run(run);
  else if (has_draft_)
    return_to_draft();
  else
    edit_proposed({});
}

/// A program's examples are not known before it has run, so there would be nothing to plan with: returns false.
bool SchedulePage::edit_proposed(const run::RunSpec& spec) {
  if (!spec.program) {
    edit_draft({spec, known_batch(workbench_, spec).value_or(usual_batch), {}});
    return true;
  }
  const auto told = known_start(workbench_, spec);
  if (told)
    edit_draft({spec, spec.batch.kind == run::BatchChoice::Kind::number ? spec.batch.number : told->batch, told});
  return told.has_value();
}

/// Makes a draft of what a run was started with, and of what its program has said of itself.
void SchedulePage::edit_again(const OpenRun& run) {
  const run::RunSpec spec = *run.spec();
  if (spec.program && run.start())
    edit_draft({spec, run.start()->batch, run.start()});
  else
    edit_proposed(spec);
}

void SchedulePage::edit_draft(const DraftPlan& draft) {
  let_go_of_run();
  has_draft_ = true;
  editor_.edit_draft(draft);
  plots_->show_edited(editor_);
  show_draft();
}

void SchedulePage::change_draft(const DraftPlan& draft) {
  start_wanted_ = false;
  editor_.change_draft(draft);
  show_draft();
}

void SchedulePage::return_to_draft() {
  let_go_of_run();
  editor_.return_to_draft();
  plots_->show_edited(editor_);
  show_draft();
}

void SchedulePage::show_draft() {
  edited_->setCurrentIndex(edited_->findData(draft_choice));
  stack_->setCurrentWidget(body_);
  form_->show_draft(editor_.draft());
  form_->set_schedule(editor_.schedule());
  find_memory();
  show_header();
}

void SchedulePage::edit_run(OpenRun* run) {
  let_go_of_run();
  connect(run, &OpenRun::grew, this, [this] {
    if (!isVisible())
      return; // no updates while the page is hidden
    plots_->follow(editor_);
    show_header();
  });
  connect(run, &OpenRun::event_came, this, [this] { new_events_.start(); });
  connect(run, &OpenRun::described, this, [this] {
    list_choices();
    plots_->show_edited(editor_);
    show_plan();
  });
  editor_.edit_run(run);
  edited_->setCurrentIndex(edited_->findData(QVariant::fromValue<qint64>(run->id())));
  stack_->setCurrentWidget(body_);
  form_->set_schedule(editor_.schedule());
  plots_->show_edited(editor_);
  show_plan();
}

/// A run has its own memory.
void SchedulePage::find_memory() {
  if (editor_.is_draft() && has_draft_)
    memory_.look_up(editor_.draft().spec);
}

bool SchedulePage::changeable() const {
  if (editor_.is_draft())
    return has_draft_;
  const OpenRun& run = *editor_.run();
  return run.running() && run.spec() && run.not_steerable().isEmpty();
}

void SchedulePage::type(const QString& schedule) {
  start_wanted_ = false;
  editor_.type(schedule);
  show_header();
}

void SchedulePage::apply() {
  const SharesField& shares = form_->shares();
  if (OpenRun* run = editor_.run(); run != nullptr && shares.changed() && shares.error().isEmpty()) {
    workbench_.undo_stack().push(new ShareChange(*run, shares.text().toStdString()));
    form_->show_run(*run, changeable());
  }
  editor_.apply();
  show_header();
}

void SchedulePage::drag(qint64 stretch, qint64 batch) {
  start_wanted_ = false;
  editor_.drag(stretch, batch);
  form_->set_schedule(editor_.schedule());
  show_header();
}

void SchedulePage::drop(qint64 stretch, qint64 batch) {
  if (editor_.is_draft())
    editor_.drop(stretch, batch);
  else if (!editor_.drag(stretch, batch)) // waits for confirmation, since it cannot be undone before it is applied
    Q_EMIT workbench_.problem(tr("The plan was not changed: %1").arg(PlanEditor::too_late(editor_.run())));
  form_->set_schedule(editor_.schedule());
  show_header();
}

void SchedulePage::show_plan() {
  if (!isVisible())
    return show_header(); // its commands exist; the rest is updated when the page is shown
  const bool drawn = !editor_.is_draft() || !editor_.plan() || editor_.plan()->steps > 0;
  plots_->setVisible(drawn);
  undrawn_->setVisible(!drawn);
  plots_->update_plan(editor_);
  cards_->show_plan(editor_);
  if (editor_.is_draft())
    form_->show_draft(editor_.draft());
  else
    form_->show_run(*editor_.run(), changeable());
  if (!editor_.has_preview())
    form_->set_schedule(editor_.schedule());
  if (const auto& plan = editor_.plan(); plan && !editor_.segments().empty())
    form_->set_size(editor_.is_draft() ? editor_.draft().batch : editor_.segments().front().batch, plan->steps,
                    plan->epochs); // a draft must begin with its own first batch
  show_prediction();
  show_header();
}

void SchedulePage::start_draft() {
  if (editor_.has_preview()) {
    start_wanted_ = true;
    editor_.apply();
    return;
  }
  start(draft_spec());
}

void SchedulePage::start(const run::RunSpec& spec) {
  start_error_.clear();
  Job* job = workbench_.start_run(spec);
  connect(job, &Job::state_changed, this, [this, job] {
    if (job->state() == Job::State::failed)
      show_start_error(*job);
  });
  // From its first step on, the page that shows the run reports its errors.
  connect(job, &Job::run_started, this, [this, job] { disconnect(job, nullptr, this, nullptr); });
}

/// Shows a failed start at the field of this page that caused it, unless it was changed meanwhile.
void SchedulePage::show_start_error(const Job& job) {
  if (!editor_.is_draft() || run::to_json(draft_spec()) != run::to_json(job.spec()))
    return;
  const std::string& field = job.error_field();
  if (field != "schedule" && field != "batch" && field != "epochs" && field != "examples" && field != "steps")
    return;
  start_error_ = job.error();
  Q_EMIT workbench_.page_wanted(key());
  form_->show_start_error(field, job.error());
}

run::RunSpec SchedulePage::draft_spec() const {
  return editor_.draft().run_spec();
}

QList<QAction*> SchedulePage::page_actions() const {
  return QList<QAction*>{apply_action_, discard_action_, start_action_, copy_action_} +
         plots_->plots().actions_for_menu();
}

QList<KeyGroup> SchedulePage::key_groups() const {
  return {{tr("Plots"), LinkedPlots::key_help()},
          {tr("Schedule field"), {{tr("Enter"), tr("Apply the schedule")}, {tr("Escape"), tr("Discard the change")}}}};
}

QJsonObject SchedulePage::state() const {
  if (!has_draft_)
    return {};
  QJsonObject state{{"draft", QString::fromStdString(run::to_json(draft_spec(), -1))}};
  if (const auto& told = editor_.draft().told) {
    state["told"] = QString::fromStdString(run::to_json(*told));
    state["batch"] = static_cast<qint64>(editor_.draft().batch);
  }
  return state;
}

void SchedulePage::restore(const QJsonObject& state) {
  if (!state.contains("draft"))
    return;
  try {
    OpenRun* run = editor_.run();
    DraftPlan draft{run::run_spec_from_json(state["draft"].toString().toStdString()), 0, {}};
    if (draft.spec.program) {
      draft.told = run::run_start_from_json(state["told"].toString().toStdString());
      draft.batch = draft.told->program ? state["batch"].toInteger() : 0;
    } else if (draft.spec.batch.kind == run::BatchChoice::Kind::number) {
      draft.batch = draft.spec.batch.number;
    }
    if (draft.batch > 0)
      edit_draft(draft);
    if (run != nullptr)
      edit_run(run);
  } catch (const Error&) {
    // From another version, or invalid: then there is no draft.
  }
}

} // namespace batchscope::ui

#include "moc_schedule_page.cpp"
