#include "ui/opened_runs/open_run.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/utc.h"
#include "core/run/run_plan.h"
#include "core/schedule/edited.h"
#include "core/telemetry/in_order.h"
#include "ui/texts/message_text.h"
#include "ui/texts/run_status.h"
#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

namespace {

constexpr int drain_interval_ms = 33;
constexpr double speed_window = 3; ///< seconds over which the speed for the time left is measured

double last(const series::History& history, const char* name) {
  const auto* series = history.find(name);
  return series == nullptr || series->values.size() == 0 ? 0 : series->values.back();
}

} // namespace

bool says_something(const series::History& history, const std::string& series) {
  const series::Series* found = history.find(series);
  if (found == nullptr || found->values.size() == 0)
    return true;
  const series::Extremes all = found->values.extremes(0, found->values.size());
  return all.finite > 0 && (all.min != 0 || all.max != 0);
}

OpenRun::OpenRun(const Job::LiveRun& run, Job& job, QObject* parent)
    : QObject(parent), id_(run.id), name_(run.spec.name), spec_(run.spec), start_(run.start),
      history_(std::make_shared<series::History>()), status_("running"), queue_(run.queue), control_(run.control) {
  history_->set_began(unix_seconds(run.began));
  timer_.setInterval(drain_interval_ms);
  connect(&timer_, &QTimer::timeout, this, &OpenRun::drain);
  timer_.start();
  connect(&job, &Job::run_ended, this, [this](std::int64_t id, const QString& status, const QString& reason) {
    if (id == id_)
      end(status, reason);
  });
  connect(&job, &Job::start_changed, this, [this](std::int64_t id, const run::RunStart& start) {
    if (id == id_)
      take_start(start);
  });
  // If its end could not be stored, the run is not reported as ended: its job ends, or goes on with the next run.
  connect(&job, &Job::state_changed, this, [this, &job] {
    if (job.over())
      end("failed", job.error().isEmpty() ? tr("the result of the run could not be saved") : job.error());
  });
  connect(&job, &Job::run_started, this, [this](const Job::LiveRun& next) {
    if (next.id != id_)
      end("failed", tr("the result of the run could not be saved"));
  });
}

OpenRun::OpenRun(std::int64_t id, RunDatabase& run_database, QObject* parent)
    : QObject(parent), id_(id), history_(std::make_shared<series::History>()), run_database_(&run_database) {
  run_database.describe(id, this, [this](const StoredRun& stored, const QString& error) {
    if (!error.isEmpty()) {
      set_status("unreadable", error);
      Q_EMIT problem(error);
      return;
    }
    name_ = stored.row.name;
    spec_ = stored.spec;
    if (spec_)
      spec_->name = name_;
    start_ = stored.start;
    history_->set_began(unix_seconds(stored.row.started));
    Q_EMIT described();
    following_ = run_database_->follow(id_, [this](RunBatch&& batch) { take_batch(std::move(batch)); });
  });
}

OpenRun::~OpenRun() = default;

void OpenRun::take_start(const run::RunStart& start) {
  start_ = start;
  planned_steps_.reset();
  planned_examples_.reset();
  Q_EMIT described();
  Q_EMIT plan_changed();
}

QString OpenRun::name() const {
  if (!name_.empty())
    return QString::fromStdString(name_);
  if (!spec_)
    return tr("run %1").arg(id_);
  if (start_ && start_->program && !start_->program->name.empty())
    return QString::fromStdString(start_->program->name);
  const std::int64_t batch = start_ ? start_->batch : 0;
  if (spec_->program && batch == 0)
    return subject_of(*spec_);
  return tr("%1, batch %2")
      .arg(subject_of(*spec_), start_ ? QString::number(batch) : QString::fromStdString(run::to_string(spec_->batch)));
}

bool OpenRun::set_name(const QString& name) {
  const std::string before = std::exchange(name_, name.toStdString());
  if (spec_)
    spec_->name = name_;
  return name_ != before;
}

QString OpenRun::stored_output() const {
  const auto output = std::find_if(events().rbegin(), events().rend(), [](const telemetry::Event& event) {
    return std::holds_alternative<telemetry::ProgramOutput>(event.body);
  });
  return output == events().rend() ? QString()
                                   : QString::fromStdString(std::get<telemetry::ProgramOutput>(output->body).tail);
}

QString OpenRun::not_steerable() const {
  if (!spec_ || !spec_->program)
    return {};
  const int level = start_ && start_->program ? start_->program->level : 0;
  if (level >= 2)
    return {};
  return level == 1 ? tr("This program reports its steps, but does not take batch sizes from BatchScope (level 1)")
                    : tr("This program has not connected to BatchScope (level 0)");
}

bool OpenRun::reads_whole_process() const {
  const auto& program = start_ ? start_->program : std::nullopt;
  return program && program->level > 0 && (program->device.empty() || program->device == "cpu");
}

bool OpenRun::reports_steps() const {
  return spec_ && (!spec_->program || (start_ && start_->program && start_->program->level >= 1));
}

bool OpenRun::tells(const std::string& series) const {
  return (spec_ && !spec_->program) || says_something(*history_, series);
}

bool OpenRun::plannable() const {
  return spec_ && start_ && not_steerable().isEmpty() && (!spec_->program || start_->train_examples > 0);
}

std::int64_t OpenRun::steps() const {
  const auto* seconds = history_->find("seconds");
  return seconds == nullptr || seconds->values.size() == 0
             ? 0
             : static_cast<std::int64_t>(seconds->frame->x(series::Axis::step).back());
}

/// An edit may change sizes, and so what steps count for with AdaScale.
schedule::RunLength OpenRun::countable_length() const {
  if (!spec_)
    return {};
  if (!applied_.empty() && spec_->lr_rule == "adascale" && spec_->length.steps)
    return {};
  return run::countable_length(*spec_, start_ ? start_->batch : spec_->batch.number);
}

std::optional<std::int64_t> OpenRun::expected_steps() const {
  if (const auto steps = countable_length().steps)
    return steps;
  return applied_.empty() && start_ ? start_->expected_steps : planned_steps_;
}

std::optional<double> OpenRun::progress() const {
  schedule::RunLength length = countable_length();
  if (const auto expected = expected_steps())
    length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = expected};
  const auto fraction =
      schedule::fraction_done(length, steps(), static_cast<std::int64_t>(last_examples()), last(*history_, "epoch"));
  return fraction ? std::optional(std::clamp(*fraction, 0.0, 1.0)) : std::nullopt;
}

double OpenRun::seconds() const {
  return so_far_.outcome().seconds;
}

double OpenRun::examples_per_second() const {
  return so_far_.outcome().examples_per_second;
}

std::optional<double> OpenRun::disturbed() const {
  return so_far_.outcome().disturbed;
}

double OpenRun::recent_examples_per_second() const {
  const auto* seconds = history_->find("seconds");
  if (seconds == nullptr || seconds->values.size() < 2)
    return 0;
  const auto& examples = seconds->frame->x(series::Axis::examples);
  const std::size_t end = seconds->values.size() - 1;
  std::size_t first = series::index_at(seconds->frame->x(series::Axis::seconds), seconds->values[end] - speed_window);
  first = first == SIZE_MAX ? 0 : std::min(first, end - 1);
  const double took = seconds->values[end] - seconds->values[first];
  return took > 0 ? (examples[end] - examples[first]) / took : 0;
}

std::optional<double> OpenRun::seconds_left() const {
  const auto expected = expected_steps();
  const std::int64_t done = steps();
  if (!running() || !expected || done < 1)
    return std::nullopt;
  // The batch may grow, so count examples if the plan tells how many are left.
  const double speed = recent_examples_per_second();
  if (planned_examples_ && speed > 0)
    return std::max(static_cast<double>(*planned_examples_) - last_examples(), 0.0) / speed;
  return seconds() / static_cast<double>(done) * static_cast<double>(std::max<std::int64_t>(*expected - done, 0));
}

double OpenRun::last_examples() const {
  const auto* seconds = history_->find("seconds");
  return seconds == nullptr || seconds->values.size() == 0 ? 0 : seconds->frame->x(series::Axis::examples).back();
}

void OpenRun::send(const char* verb, const std::string& detail, std::function<void()> refused) {
  if (run_database_ != nullptr && running())
    run_database_->send(id_, {verb, detail}, this, std::move(refused));
}

void OpenRun::pause() {
  if (control_)
    control_->pause();
  else
    send("pause");
}

void OpenRun::resume() {
  if (control_)
    control_->resume();
  else
    send("continue");
}

void OpenRun::step_once() {
  if (control_)
    control_->step_once();
  else
    send("step");
}

void OpenRun::stop() {
  if (control_)
    control_->stop();
  else
    send("stop");
}

void OpenRun::edit(const run::ScheduleEdit& edit) {
  if (!running())
    return;
  pending_.push_back(edit);
  if (control_ && !control_->edit(edit))
    return refuse_late_edits();
  if (!control_)
    send("edit",
         json_text(Json{{"schedule", edit.schedule}, {"batch", edit.batch ? Json(*edit.batch) : Json(nullptr)}}),
         [this, schedule = edit.schedule] { settle(schedule); });
  Q_EMIT plan_changed();
}

void OpenRun::set_budget(std::uint64_t bytes) {
  if (!running())
    return;
  asked_budget_ = bytes;
  if (control_)
    control_->set_budget({.bytes = bytes});
  else
    send("budget", json_text(Json{{"bytes", bytes}}));
  Q_EMIT plan_changed();
}

void OpenRun::set_shares(const std::string& shares) {
  if (!running())
    return;
  asked_shares_ = shares;
  if (control_ && !control_->edit({.schedule = {}, .shares = shares}))
    return refuse_late_edits();
  if (!control_)
    send("shares", json_text(Json{{"shares", shares}}), [this] {
      asked_shares_.reset();
      Q_EMIT plan_changed();
    });
  Q_EMIT plan_changed();
}

std::string OpenRun::shares() const {
  if (asked_shares_)
    return *asked_shares_;
  if (!applied_shares_.empty())
    return *applied_shares_.back().shares;
  return spec_ ? spec_->shares : std::string();
}

std::uint64_t OpenRun::budget() const {
  if (asked_budget_ && running())
    return *asked_budget_;
  return budget_ ? *budget_ : start_ ? static_cast<std::uint64_t>(start_->budget_bytes) : 0;
}

std::optional<run::ScheduleEdit> OpenRun::pending_edit() const {
  return pending_.empty() ? std::nullopt : std::optional(pending_.back());
}

/// The run has made its last step: rejects the edits that still wait for one.
void OpenRun::refuse_late_edits() {
  if (!has_pending())
    return;
  const QString late = pending_.empty() ? tr("The shares of %1 were not changed: the run ended before its next step.")
                                        : tr("The schedule of %1 was not changed: the run ended before its next step.");
  pending_.clear();
  asked_shares_.reset();
  Q_EMIT plan_changed();
  Q_EMIT problem(late.arg(name()));
}

/// An edit was applied or rejected; whether it was requested here. The run handles edits in order, with those of others
/// between them.
bool OpenRun::settle(const std::string& schedule) {
  const auto settled = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const run::ScheduleEdit& edit) { return edit.schedule == schedule; });
  const bool ours = settled != pending_.end();
  if (ours)
    pending_.erase(pending_.begin(), settled + 1);
  Q_EMIT plan_changed();
  return ours;
}

std::string OpenRun::schedule() const {
  if (applied_.empty())
    return spec_ ? spec_->schedule : std::string();
  return schedule::text_in_force(applied_.back().schedule);
}

schedule::PlanRequest OpenRun::plan_request() const {
  schedule::PlanRequest request;
  if (!plannable())
    return request;
  request.options = run::progression_options(*spec_, *start_);
  request.edits = applied_;
  request.edits.insert(request.edits.end(), applied_shares_.begin(), applied_shares_.end());
  std::stable_sort(request.edits.begin(), request.edits.end(),
                   [](const auto& a, const auto& b) { return a.after_step < b.after_step; });
  return request;
}

void OpenRun::set_planned(const schedule::Plan& plan) {
  if (plan.cut || plan.needs_feedback)
    return;
  planned_steps_ = plan.steps;
  planned_examples_ = plan.examples;
}

void OpenRun::take(const telemetry::StepRecord& record) {
  so_far_.take(record);
  history_->append(record);
}

void OpenRun::take(telemetry::Event event) {
  const std::size_t before = history_->events().size();
  so_far_.take(event);
  history_->append(event);
  if (history_->events().size() == before)
    return; // only values
  if (std::holds_alternative<telemetry::ProgramConnected>(event.body) && run_database_ != nullptr)
    run_database_->describe(id_, this, [this](const StoredRun& stored, const QString& error) {
      if (error.isEmpty() && stored.start)
        take_start(*stored.start);
    });
  apply(event);
  Q_EMIT event_came(static_cast<int>(before));
}

/// Edits and pauses change the state only once the run itself reports them.
void OpenRun::apply(const telemetry::Event& event) {
  if (const auto* edit = std::get_if<telemetry::ScheduleEdit>(&event.body))
    apply(*edit);
  else if (const auto* shares = std::get_if<telemetry::SharesEdit>(&event.body))
    apply(*shares);
  else if (const auto* budget = std::get_if<telemetry::BudgetChange>(&event.body))
    apply(*budget);
  else if (const auto* status = std::get_if<telemetry::StatusChange>(&event.body))
    apply(*status);
}

void OpenRun::apply(const telemetry::ScheduleEdit& edit) {
  if (!edit.refused && !(edit.applies_from_step && edit.batch))
    return; // damaged, or from another version: listed as an event, otherwise ignored
  if (!edit.refused)
    applied_.push_back({*edit.applies_from_step - 1, edit.schedule, *edit.batch});
  if (settle(edit.schedule) && edit.refused)
    Q_EMIT problem(tr("The schedule of %1 was not changed: %2").arg(name(), text_of(*edit.refused)));
}

void OpenRun::apply(const telemetry::BudgetChange& change) {
  if (!change.refused)
    budget_ = change.budget_bytes.value_or(0);
  // Of several that were asked for, each has an answer.
  const bool asked = asked_budget_ && (!change.asked_bytes || change.asked_bytes == asked_budget_);
  if (asked)
    asked_budget_.reset();
  if (asked && change.refused)
    Q_EMIT problem(tr("The memory budget was not changed: %1").arg(text_of(*change.refused)));
  Q_EMIT plan_changed();
}

void OpenRun::apply(const telemetry::SharesEdit& edit) {
  const bool asked = asked_shares_ == edit.shares;
  if (asked)
    asked_shares_.reset();
  if (!edit.refused && edit.applies_from_step)
    applied_shares_.push_back({*edit.applies_from_step - 1, {}, {}, edit.shares});
  else if (edit.refused && asked)
    Q_EMIT problem(tr("The shares of the data streams were not changed: %1").arg(text_of(*edit.refused)));
  Q_EMIT plan_changed();
}

void OpenRun::apply(const telemetry::StatusChange& change) {
  using Status = telemetry::StatusChange::Status;
  if (change.status == Status::paused || change.status == Status::running)
    seen_status_ = change.status == Status::paused ? QStringLiteral("paused") : QStringLiteral("running");
  if (running())
    set_status(seen_status_);
}

void OpenRun::set_status(const QString& status, const QString& reason) {
  if (status == status_ && reason == reason_)
    return;
  status_ = status;
  reason_ = reason;
  if (!running())
    refuse_late_edits();
  Q_EMIT status_changed();
}

void OpenRun::drain() {
  if (!queue_)
    return;
  const std::uint64_t before = history_->revision();
  queue_->drain([this](telemetry::Entry&& entry) {
    if (auto* record = std::get_if<telemetry::StepRecord>(&entry))
      take(*record);
    else
      take(std::move(std::get<telemetry::Event>(entry)));
  });
  if (history_->revision() != before)
    Q_EMIT grew();
}

/// For a run of this window's engine.
void OpenRun::end(const QString& status, const QString& reason) {
  if (!queue_)
    return; // it has ended already
  drain();
  timer_.stop();
  control_.reset();
  queue_.reset();
  set_status(status, reason);
}

void OpenRun::take_batch(RunBatch&& batch) {
  if (!batch.error.isEmpty()) {
    set_status("unreadable", batch.error);
    Q_EMIT problem(batch.error);
    return;
  }
  telemetry::in_order(
      batch.records, std::move(batch.events), [this](const telemetry::StepRecord& record) { take(record); },
      [this](telemetry::Event event) { take(std::move(event)); });
  Q_EMIT grew();
  if (!batch.complete)
    return;
  const telemetry::RunOutcome& stored = batch.row.outcome;
  if (!telemetry::is_open(stored.status))
    so_far_ = telemetry::RunProgress(stored);
  set_status(stored.status == telemetry::RunStatus::running ? seen_status_ : status_name(stored.status),
             QString::fromStdString(stored.reason));
  if (!running())
    following_.reset();
}

} // namespace batchscope::ui

#include "moc_open_run.cpp"
