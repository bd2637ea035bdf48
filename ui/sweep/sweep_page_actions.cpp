// Actions of the Sweep page.
#include <QAction>
#include <QComboBox>
#include <QJsonObject>
#include <QSplitter>

#include <algorithm>

#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "ui/sweep/cells_picture.h"
#include "ui/sweep/how_card.h"
#include "ui/sweep/now_card.h"
#include "ui/sweep/sweep_header.h"
#include "ui/sweep/sweep_page.h"
#include "ui/sweep/sweep_table.h"
#include "ui/sweep/vary_card.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/workbench/goal_box.h"

namespace batchscope::ui {

QAction* SweepPage::add_action(const QString& name, const QString& text, const QString& tip, const QKeySequence& keys,
                               void (SweepPage::*slot)()) {
  QAction* action = make_command(this, text, tip, keys);
  action->setObjectName(name);
  connect(action, &QAction::triggered, this, slot);
  return action;
}

void SweepPage::make_actions() {
  start_ = add_action("start", tr("Start sweep"), tr("Train all of these runs"), Qt::CTRL | Qt::Key_Return,
                      &SweepPage::start);
  add_ = add_action("add", tr("Add runs"), tr("Add the runs of the new values to this sweep"),
                    Qt::CTRL | Qt::SHIFT | Qt::Key_Return, &SweepPage::add_runs);
  resume_ = add_action("resume", tr("Resume"), tr("Train the runs of this sweep that are missing"),
                       Qt::CTRL | Qt::Key_R, &SweepPage::resume);
  pause_ = add_action("pause", tr("Pause"), tr("Pause or continue the current run of the sweep"), Qt::CTRL | Qt::Key_P,
                      &SweepPage::pause_or_continue);
  stop_ =
      add_action("stop", tr("Stop sweep"), tr("Stop at the next step; finished runs are kept, and it can be resumed"),
                 Qt::CTRL | Qt::Key_Period, &SweepPage::stop);
  compare_ = add_action("compare", tr("Compare"), tr("Compare the chosen runs, or all runs of the sweep"),
                        Qt::CTRL | Qt::Key_M, &SweepPage::compare_runs);
  open_ = add_action("open", tr("Open runs in Live"), tr("Plot the chosen runs on the Live page"), Qt::CTRL | Qt::Key_L,
                     &SweepPage::open_runs);
  up_ = add_action("up", tr("Make earlier"), tr("Move the chosen waiting runs up"), Qt::ALT | Qt::Key_Up,
                   &SweepPage::move_up);
  down_ = add_action("down", tr("Make later"), tr("Move the chosen waiting runs down"), Qt::ALT | Qt::Key_Down,
                     &SweepPage::move_down);
  stop_run_ = add_action("stop_run", tr("Stop run"), tr("Stop only the selected run; the sweep continues"),
                         Qt::CTRL | Qt::SHIFT | Qt::Key_Period, &SweepPage::stop_chosen);
  skip_ = add_action("skip", tr("Skip runs"), tr("Do not train the chosen waiting runs"), Qt::Key_Delete,
                     &SweepPage::skip_chosen);
  skip_->setShortcutContext(Qt::WidgetShortcut); // of the table: elsewhere Del removes a value
  new_ = add_action("new", tr("New sweep"), tr("Plan a sweep"), Qt::CTRL | Qt::Key_N, &SweepPage::plan_anew);
  like_this_ = add_action("like_this", tr("New sweep like this"), tr("Plan a new sweep with the values of this one"),
                          Qt::CTRL | Qt::SHIFT | Qt::Key_N, &SweepPage::plan_like_this);
}

QList<QAction*> SweepPage::page_actions() const {
  return {start_, add_, resume_, pause_, stop_, compare_, open_, up_, down_, stop_run_, skip_, new_, like_this_};
}

QList<KeyGroup> SweepPage::key_groups() const {
  return {{tr("Cells of a sweep"),
           {{tr("Left, Right, Up, Down"), tr("Move to the next cell")},
            {tr("Ctrl+Space"), tr("Add the cell to the selection or remove it")},
            {tr("Enter"), tr("Open the runs of the chosen cells in Live")}}},
          {tr("Values of a sweep"), {{tr("Enter"), tr("Add the typed values")}, {tr("Del"), tr("Remove the value")}}}};
}

// ---- the plan ----

void SweepPage::plan_anew() {
  chosen_by_user_ = true;
  planning_ = true;
  show_sweep(std::nullopt);
  vary_->setFocus();
}

void SweepPage::plan_like_this() {
  if (content_)
    plan_ = content_->spec;
  plan_anew();
}

void SweepPage::propose(const run::RunSpec& base) {
  plan_.base = base;
  // A program has fewer fields, and placeholders of its own, which are there to be varied.
  const auto known = run::keys_of(base);
  std::erase_if(plan_.vary, [&](const sweep::Variation& variation) {
    return std::find(known.begin(), known.end(), variation.field) == known.end();
  });
  for (const std::string& key : known) {
    const bool varies = std::any_of(plan_.vary.begin(), plan_.vary.end(),
                                    [&](const sweep::Variation& variation) { return variation.field == key; });
    if (run::placeholder_in(key) && !varies)
      plan_.vary.push_back({.field = key, .values = {run::field_text(base, key)}, .interval = {}});
  }
  chosen_by_user_ = true;
  planning_ = true;
  content_.reset();
  show_sweep(std::nullopt);
}

void SweepPage::take_edits() {
  sweep::SweepSpec edited = shown_ && content_ ? content_->spec : plan_;
  vary_->apply(edited);
  if (shown_) {
    count_additions(content_ ? extension_to(content_->spec, edited) : sweep::Extension{});
    return;
  }
  how_->apply(edited);
  how_->show_edited(edited);
  vary_->show_base(edited.base);
  plan_ = std::move(edited);
  how_->show_runs(view_.runs.size(), 1);
  request_plan();
  allow_actions();
}

/// Only what is seen is predicted: the first prediction loads the engine.
void SweepPage::request_plan() {
  if (planning() && isVisible())
    planner_.plan(plan_);
}

void SweepPage::start() {
  if (vary_->has_error() || how_->has_error() || !plan_error_.isEmpty())
    return;
  starting_ = workbench_.start_sweep(plan_);
  show_header();
  allow_actions();
}

// ---- more runs of a stored sweep ----

void SweepPage::count_additions(const sweep::Extension& wanted) {
  additions_ = 0;
  extension_ = wanted;
  counting_.cancel();
  if (!wanted.empty())
    counting_.start([this, wanted, content = content_](const LatestTask::Progress& progress) {
      std::size_t additions = 0;
      QString problem;
      try {
        additions = added_runs(*content, wanted);
      } catch (const Error& error) {
        problem = QString::fromUtf8(error.what());
      }
      progress.post([this, additions, problem] {
        additions_ = additions;
        if (!problem.isEmpty())
          vary_->show_error(problem);
        allow_actions();
      });
    });
  allow_actions();
}

void SweepPage::add_runs() {
  if (additions_ == 0 || !shown_ || !content_)
    return;
  workbench_.run_database().extend_sweep(*shown_, extension_, this,
                                         [this, sweep = *shown_, base = content_->spec.base] {
                                           if (!works_at(sweep))
                                             workbench_.job_queue().resume_sweep(sweep, base, false);
                                           read_again();
                                         });
  extension_ = {};
  additions_ = 0;
  allow_actions();
}

// ---- the sweep as a whole ----

/// Whether any program makes its runs: then those that are added are made, too.
bool SweepPage::works_at(std::int64_t sweep) const {
  const auto& jobs = workbench_.job_queue().jobs();
  const auto& rows = workbench_.run_database().runs();
  return std::any_of(jobs.begin(), jobs.end(), [&](const Job* job) { return !job->over() && job->sweep() == sweep; }) ||
         std::any_of(rows.begin(), rows.end(), [&](const store::RunRow& row) {
           return row.sweep == sweep && row.outcome.status == telemetry::RunStatus::running;
         });
}

Job* SweepPage::own_job() const {
  for (Job* job : workbench_.job_queue().jobs())
    if (!job->over() && shown_ && job->sweep() == shown_)
      return job;
  return nullptr;
}

SweepPage::Stage SweepPage::stage() const {
  if (!shown_)
    return starting_ && !starting_->over() ? Stage::queued : Stage::planning;
  if (view_.over() == view_.runs.size())
    return Stage::finished; // its job may go on with other runs, as the demo does
  if (view_.training())
    return now_->run() != nullptr && now_->run()->paused() ? Stage::paused : Stage::running;
  if (const Job* job = own_job())
    return job->state() == Job::State::waiting ? Stage::queued : Stage::running;
  if (view_.count(RunStage::starting) > 0)
    return Stage::running;
  if (view_.count(RunStage::waiting) > 0)
    return Stage::waiting;
  return Stage::stopped;
}

void SweepPage::resume() {
  if (!shown_ || !content_ || own_job())
    return;
  workbench_.job_queue().resume_sweep(*shown_, content_->spec.base, view_.training().has_value());
  show_header();
  allow_actions();
}

void SweepPage::send_to_running(const char* verb) {
  for (const ShownRun& run : view_.runs)
    if (run.stage == RunStage::running)
      workbench_.run_database().send(*run.run, {verb});
}

void SweepPage::pause_or_continue() {
  send_to_running(stage() == Stage::paused ? "continue" : "pause");
}

void SweepPage::stop() {
  Job* job = own_job();
  // Other programs are asked through their runs; those of the own job have ended before they could be.
  for (const ShownRun& run : view_.runs)
    if (shown_ && run.stage == RunStage::running && (job == nullptr || !job->has_run(*run.run)))
      workbench_.run_database().send(*run.run, {"stop-job"});
  if (job != nullptr)
    job->cancel();
  else if (starting_ && !shown_)
    starting_->cancel();
}

// ---- single runs ----

std::vector<std::int64_t> SweepPage::begun_of(const std::vector<std::size_t>& entries) const {
  std::vector<std::int64_t> runs;
  for (const std::size_t entry : entries)
    if (entry < view_.runs.size() && view_.runs[entry].run &&
        view_.runs[entry].outcome.status != telemetry::RunStatus::queued)
      runs.push_back(*view_.runs[entry].run);
  return runs;
}

std::vector<std::size_t> SweepPage::chosen_in(RunStage stage) const {
  std::vector<std::size_t> entries;
  for (const std::size_t entry : table_->chosen())
    if (entry < view_.runs.size() && view_.runs[entry].stage == stage)
      entries.push_back(entry);
  return entries;
}

void SweepPage::compare_runs() {
  if (!shown_)
    return;
  const auto runs = begun_of(table_->chosen());
  if (runs.size() < 2)
    return workbench_.compare_sweep(*shown_);
  workbench_.compare(QList<qint64>(runs.begin(), runs.end()));
}

void SweepPage::open_runs() {
  const auto runs = begun_of(table_->chosen());
  if (runs.empty())
    return;
  workbench_.open(QList<qint64>(runs.begin(), runs.end()));
  Q_EMIT workbench_.page_wanted(QStringLiteral("live"));
}

/// The chosen runs move together by one place, before or behind the next one that is not chosen.
void SweepPage::move_chosen(bool up) {
  const auto chosen = chosen_in(RunStage::waiting);
  std::vector<std::pair<std::size_t, std::int64_t>> order; // of all that wait: place and run
  std::set<std::int64_t> moving;
  for (const std::size_t entry : chosen)
    moving.insert(*view_.runs[entry].run);
  for (const ShownRun& run : view_.runs)
    if (run.stage == RunStage::waiting)
      order.emplace_back(*run.place, *run.run);
  std::sort(order.begin(), order.end());
  if (moving.empty() || !shown_)
    return;
  const auto moves = [&](const auto& waiting) { return moving.count(waiting.second) > 0; };
  const auto first = std::find_if(order.begin(), order.end(), moves);
  const auto last = std::find_if(order.rbegin(), order.rend(), moves).base(); // behind it
  RunDatabase& database = workbench_.run_database();
  if (up && first != order.begin()) {
    // The one before them goes behind them.
    const std::int64_t passed = std::prev(first)->second;
    database.move_waiting(*shown_, passed, last == order.end() ? std::nullopt : std::optional(last->second));
  } else if (!up && last != order.end()) {
    database.move_waiting(*shown_, last->second, first->second);
  }
}

void SweepPage::skip_chosen() {
  std::vector<std::int64_t> runs;
  std::size_t last_place = 0;
  for (const std::size_t entry : chosen_in(RunStage::waiting)) {
    runs.push_back(*view_.runs[entry].run);
    last_place = std::max(last_place, view_.runs[entry].place.value_or(0));
  }
  if (!shown_ || runs.empty())
    return;
  workbench_.run_database().skip_waiting(*shown_, runs);
  // What is skipped moves away in the table; the next one that waits can be skipped at once.
  std::optional<std::size_t> next;
  for (std::size_t entry = 0; entry < view_.runs.size(); ++entry) {
    const ShownRun& run = view_.runs[entry];
    if (run.stage == RunStage::waiting && run.place > last_place && (!next || run.place < view_.runs[*next].place))
      next = entry;
  }
  if (next)
    table_->choose({*next});
}

void SweepPage::stop_chosen() {
  for (const std::size_t entry : chosen_in(RunStage::running))
    workbench_.run_database().send(*view_.runs[entry].run, {"stop"});
}

// ---- what is chosen to be shown ----

void SweepPage::set_metric(int index) {
  metric_chosen_ = true;
  metric_ = metrics().value(index, Metric::accuracy);
  refresh_view();
}

void SweepPage::take_goal() {
  if (const auto goal = goal_box_->goal()) {
    goal_ = *goal;
    read_again();
  } else if (shown_) {
    banner_->show_none(tr("Enter a goal: a score such as 97% or a time such as 2min."));
  }
}

// ---- what is allowed ----

void SweepPage::allow_actions() {
  const QString& read_only = workbench_.run_database().read_only();
  const Stage now = stage();
  const auto allow_to_write = [&](QAction& action, bool allowed, const QString& why_not) {
    allow(action, allowed && read_only.isEmpty(), read_only.isEmpty() ? why_not : read_only);
  };
  const bool plan = planning();
  const bool wrong = vary_->has_error() || how_->has_error() || !plan_error_.isEmpty();
  allow_to_write(*start_, plan && !wrong && now == Stage::planning && !view_.runs.empty(),
                 !plan                    ? tr("Choose New sweep first")
                 : wrong                  ? tr("Correct the error first")
                 : now != Stage::planning ? tr("The sweep is starting")
                                          : tr("No combination meets the condition"));
  allow_to_write(*add_, additions_ > 0, tr("Add values or repeats to the sweep first"));
  add_->setText(additions_ == 0   ? tr("Add runs")
                : additions_ == 1 ? tr("Add 1 run")
                                  : tr("Add %1 runs").arg(format_count(static_cast<qint64>(additions_))));
  const bool works = now == Stage::running || now == Stage::paused;
  allow_to_write(*resume_, now == Stage::stopped || now == Stage::waiting,
                 works ? tr("The sweep is running") : tr("Nothing is missing"));
  allow_to_write(*pause_, works && view_.training().has_value(), tr("No run is training"));
  pause_->setText(now == Stage::paused ? tr("Continue") : tr("Pause"));
  allow_to_write(*stop_, works || now == Stage::queued, tr("The sweep is not running"));
  allow(*compare_, shown_ && view_.over() > 0, tr("No run has ended yet"));
  allow(*open_, !begun_of(table_->chosen()).empty(), tr("Select runs that have started"));
  const bool waiting = !chosen_in(RunStage::waiting).empty();
  for (QAction* action : {up_, down_, skip_})
    allow_to_write(*action, waiting, tr("Select waiting runs"));
  allow_to_write(*stop_run_, !chosen_in(RunStage::running).empty(), tr("Select the run that is training"));
  allow(*like_this_, shown_ && content_, tr("Choose a sweep first"));
  show_header();
}

void SweepPage::show_header() {
  SweepHeader::State state;
  const Stage now = stage();
  state.title = shown_ && content_ ? title_of(content_->spec) : planning() ? title_of(plan_) : tr("Sweep");
  const auto count = [](std::size_t number) { return format_count(static_cast<qint64>(number)); };
  const QString of_runs = tr("%1 of %2 runs").arg(count(view_.over()), count(view_.runs.size()));
  const QString elapsed = format_clock(view_.seconds());
  switch (now) {
  case Stage::planning:
    state.status = planning() ? tr("planning") : QString();
    state.main = planning() ? start_ : nullptr;
    break;
  case Stage::queued: {
    const Job* working = workbench_.job_queue().working();
    const Job* own = shown_ ? own_job() : starting_.data();
    state.status = working == own ? tr("starting") : tr("queued");
    state.tone = Pill::Tone::accent;
    state.text = working == own || working == nullptr ? QString() : tr("behind: %1").arg(working->title());
    state.others = {stop_};
    break;
  }
  case Stage::running:
  case Stage::paused: {
    state.status = now == Stage::paused ? tr("paused") : tr("running");
    state.tone = now == Stage::paused ? Pill::Tone::warning : Pill::Tone::accent;
    const Job* own = own_job();
    const auto left = own && own->kind() == Job::Kind::sweep ? own->seconds_left() : view_.seconds_left();
    state.text = left ? tr("%1 · %2 elapsed · %3 left").arg(of_runs, elapsed, format_clock(*left))
                      : tr("%1 · %2 elapsed").arg(of_runs, elapsed);
    state.main = compare_;
    state.others = {pause_, stop_};
    break;
  }
  case Stage::waiting:
  case Stage::stopped:
    state.status = now == Stage::waiting ? tr("waiting") : tr("incomplete");
    state.tone = Pill::Tone::warning;
    state.text = tr("%1 · %2").arg(of_runs, elapsed);
    state.main = resume_;
    state.others = {compare_};
    break;
  case Stage::finished:
    if (content_) {
      state.status = tr("finished");
      state.tone = Pill::Tone::good;
      state.text = tr("%1 · %2").arg(view_.runs.size() == 1 ? tr("1 run") : tr("%1 runs").arg(count(view_.runs.size())),
                                     elapsed);
      state.main = compare_;
    }
    break;
  }
  if (shown_ && now != Stage::finished && now != Stage::queued && !view_.runs.empty())
    state.progress = static_cast<double>(view_.over()) / static_cast<double>(view_.runs.size());
  if (additions_ > 0 && shown_) {
    if (state.main != nullptr)
      state.others << state.main;
    state.main = add_;
  }
  header_->show_state(state);
}

// ---- what is kept ----

QJsonObject SweepPage::state() const {
  QJsonObject state{{"plan", QString::fromStdString(to_json(plan_, -1))},
                    {"planning", planning_},
                    {"goal", goal_box_->text()},
                    {"splitter", split_}};
  if (metric_chosen_)
    state["metric"] = metric_key(metric_);
  return state;
}

void SweepPage::restore(const QJsonObject& state) {
  try {
    sweep::SweepSpec plan = sweep::sweep_spec_from_json(state["plan"].toString().toStdString());
    check(plan);
    plan_ = std::move(plan);
  } catch (const Error&) {
    // From another version, or invalid: keeps the current plan.
  }
  for (const Metric metric : metrics())
    if (state["metric"].toString() == metric_key(metric)) {
      metric_ = metric;
      metric_chosen_ = true;
    }
  if (const QString goal = state["goal"].toString(); !goal.isEmpty()) {
    goal_box_->set_text(goal);
    take_goal();
  }
  planning_ = state["planning"].toBool() || (planning_ && !state.contains("planning"));
  chosen_by_user_ = chosen_by_user_ || planning_; // a plan that was begun goes on
  split_ = state["splitter"].toString();
  splitter_->restoreState(QByteArray::fromBase64(split_.toLatin1()));
  if (!shown_) {
    vary_->show_plan(plan_);
    how_->show_plan(plan_);
    request_plan();
    refresh();
  }
}

} // namespace batchscope::ui
