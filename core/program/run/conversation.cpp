#include "core/program/run/conversation.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/median.h"
#include "core/base/saturated.h"
#include "core/base/utc.h"
#include "core/program/process/command.h"
#include "core/run/apply_edit.h"
#include "core/telemetry/message.h"

namespace batchscope::program {

namespace {

using telemetry::Words;

constexpr std::chrono::milliseconds confirm_interval{250};
constexpr double silent_seconds = 60;
constexpr double silent_steps = 20; ///< median steps without a record
constexpr std::size_t steps_remembered = 64;
constexpr std::int64_t steps_before_loader = 64; ///< as the client has it
/// A program that starts says hello again when it knows more; until its first step, or so long, it is one event.
constexpr std::chrono::seconds settling{5};

/// Whether the plan of a run that begins so is another one.
bool plans_differ(const run::RunStart& a, const run::RunStart& b) {
  return a.batch != b.batch || a.accumulate != b.accumulate || a.train_examples != b.train_examples ||
         a.program->length != b.program->length || a.program->ranks != b.program->ranks ||
         a.program->drop_last != b.program->drop_last;
}

telemetry::ProgramConnected connected_as(const Hello& hello) {
  return {.pid = hello.pid,
          .level = level_of(hello),
          .client = hello.client,
          .framework = hello.framework,
          .torch = hello.torch,
          .device = hello.device,
          .world = hello.world,
          .examples = hello.examples,
          .batch = hello.batch,
          .accumulate = hello.accumulate,
          .name = hello.name,
          .config_json = hello.config_json};
}

/// Whether a program that has connected says more than that it goes on with other data or other steps: it may have a
/// DataLoader for each epoch, or two that take turns.
bool is_news(telemetry::ProgramConnected about, const telemetry::ProgramConnected& before) {
  const auto repeat = [](auto& now, const auto& then) {
    if (now && then)
      now = then;
  };
  repeat(about.examples, before.examples);
  repeat(about.batch, before.batch);
  repeat(about.accumulate, before.accumulate);
  return about != before;
}

} // namespace

Conversation::Conversation(const run::RunSpec& spec, const run::RunPlace& place, Link& link,
                           const std::filesystem::path& spill, const std::string& output, telemetry::Sink& sink,
                           std::function<double()> seconds)
    : spec_(spec), place_(place), output_(output), sink_(sink), seconds_(std::move(seconds)),
      inbox_(link, place.uid, spill, *this), last_record_(Clock::now()) {
  if (spec.batch.kind == run::BatchChoice::Kind::number && !sends_batch(spec))
    own_batch_ = spec.batch.number;
}

void Conversation::begin(const run::RunStart& start) {
  set_start(start);
}

void Conversation::set_start(run::RunStart start) {
  if (start.later_json.empty())
    start.later_json = start_.later_json;
  if (to_json(start) == to_json(start_))
    return;
  start_ = std::move(start);
  if (place_.start_changed)
    place_.start_changed(start_);
}

void Conversation::resume(const LeftRun& left, const run::RunStart& start) {
  inbox_.resume({.pid = left.pid, .seq = left.seq, .step = left.progress.outcome().steps});
  pid_ = left.pid;
  progress_ = left.progress;
  reported_ = steps() > 0 ? steps() : -1;
  last_seconds_ = progress_.outcome().seconds;
  start_ = start;
  level_ = start.program ? start.program->level : 0;
  first_batch_ = start.program && start.program->first_batch;
  said_paused_ = left.paused;
  bye_ = left.bye;
  edits_ = left.edits;
  if (left.budget)
    spec_.memory_budget = left.budget;
}

void Conversation::serve() {
  inbox_.serve();
}

// --- what the program says ---

void Conversation::hello(const Hello& hello) {
  level_ = level_of(hello);
  first_batch_ = takes_first_batch(hello);
  device_ = hello.device;
  has_loader_ = hello.batch.has_value();
  if (hello.batch)
    own_batch_ = *hello.batch;
  last_seconds_ = std::max(last_seconds_, 0.0);      // its clock begins, and from now on the run's is that
  if (std::exchange(pid_, hello.pid) != hello.pid) { // its messages count from 1
    to_confirm_.clear();
    confirmed_ = sent_ = 0;
    processors_.emplace(std::to_string(hello.pid));
  }
  try {
    steer(hello);
  } catch (const Error& error) {
    failure_ = telemetry::because(Words::not_accepted, {{"error", std::string(error.what())}});
  }
  welcome();
  describe(hello);
}

/// A program says more of itself while it starts; its plan begins when it can be steered.
void Conversation::steer(const Hello& hello) {
  run::RunStart start = start_of(spec_, hello);
  const bool new_plan = steering_ && !steering_->has_begun() && plans_differ(steering_->start(), start);
  if (level_ >= 2 && (!steering_ || new_plan)) {
    steering_ = std::make_unique<Steering>(spec_, hello, [this](std::int64_t step, telemetry::EventBody body) {
      push({.step = step, .seconds = run_seconds(), .body = std::move(body)});
    });
    steering_->repeat(edits_, hello.step);
  } else if (steering_) {
    steering_->repeat({}, hello.step); // it has taken up a checkpoint since
  }
  if (steering_)
    start.expected_steps = steering_->start().expected_steps;
  start.program->output = output_;
  set_start(std::move(start));
}

void Conversation::welcome() {
  Welcome welcome{.run = place_.uid,
                  .number = place_.run,
                  .limit_bytes = spec_.memory_budget,
                  .on_oom = spec_.on_oom == run::OnOom::fail ? "fail" : "shrink"};
  if (steering_) {
    const Next next = steering_->welcome();
    welcome.limit_bytes = steering_->budget();
    if (steering_->steers()) {
      welcome.batch = next.batch;
      welcome.accumulate = next.accumulate;
      welcome.rate_factor = next.rate_factor;
      welcome.step = next.step;
      welcome.hold = next.hold;
    }
  } else if (sets_first_batch()) {
    welcome.batch = spec_.batch.number;
  }
  inbox_.send(to_line(welcome));
  if (paused_)
    inbox_.send(to_line(Order::pause));
  if (stopping_ || !failure_.empty())
    inbox_.send(stop_line(false));
}

/// In a program that takes no size later.
bool Conversation::sets_first_batch() const {
  return level_ < 2 && first_batch_ && sends_batch(spec_);
}

void Conversation::describe(const Hello& hello) {
  to_describe_ = connected_as(hello);
  const bool sets_size = steering_ ? steering_->steers() : sets_first_batch();
  if (sets_size && hello.batch && *hello.batch != start_.batch)
    to_describe_->given_batch = start_.batch;
  said_hello_ = Clock::now();
}

void Conversation::say_connected() {
  const auto about = std::exchange(to_describe_, std::nullopt);
  if (!about || (described_ && !is_news(*about, *described_)))
    return;
  described_ = about;
  report(*about);
}

void Conversation::message(const Message& message, bool live) {
  say_connected();
  if (const auto* step = std::get_if<StepMessage>(&message))
    take(*step, live);
  else if (const auto* event = std::get_if<EventMessage>(&message))
    take(*event, live);
  else if (const auto* applied = std::get_if<Applied>(&message); applied && steering_)
    inbox_.send(steering_->take(*applied));
  else if (const auto* bye = std::get_if<Bye>(&message))
    take(*bye);
  to_confirm_.emplace_back(entries_, seq_of(message));
  if (!std::holds_alternative<Bye>(message) || !live)
    return;
  try {
    if (place_.flush)
      place_.flush(); // it waits for this
  } catch (const Error&) {
    // The store reports it, and tries again; the program leaves its messages in the spill file.
  }
  last_confirmed_ = {};
  confirm();
}

void Conversation::take(const StepMessage& message, bool live) {
  if (level_ < 2 && live)
    need_followed_size();
  telemetry::StepRecord record = message.record;
  if (!(record.seconds >= 0)) // NaN, too
    record.seconds = seconds_();
  last_seconds_ = record.seconds;
  ++reports_;
  const bool step = is_step(message);
  if (step)
    make_step(std::move(record), live);
  else
    add_to_step(std::move(record));
  if (!steering_ || !(step || message.ask))
    return;
  StepMessage followed = message;
  followed.ask = message.ask && live;
  const std::string answer = steering_->take(followed);
  if (live)
    inbox_.send(answer);
}

/// Each step has one record. A program that can change its size says in it what the step has taken; what it reports
/// besides, before or after, only adds values to a step.
bool Conversation::is_step(const StepMessage& message) const {
  const bool has_size = message.record.batch > 0 || !message.takes.empty();
  return message.record.step > reported_ && (level_ < 2 || has_size || message.ask);
}

void Conversation::make_step(telemetry::StepRecord record, bool live) {
  fill_peak(record);
  if (live && processors_)
    processors_->add_to(record);
  const auto now = Clock::now();
  step_seconds_.push_back(std::chrono::duration<double>(now - last_record_).count());
  if (step_seconds_.size() > steps_remembered)
    step_seconds_.pop_front();
  last_record_ = now;
  said_silent_ = false;
  reported_ = record.step;
  this->record(record);
}

void Conversation::add_to_step(telemetry::StepRecord record) {
  if (level_ < 2 && record.step < reported_ && !std::exchange(said_counted_again_, true))
    report(telemetry::Lint{telemetry::because(Words::counted_again, {{"step", record.step}, {"after", reported_}})});
  record.seconds = std::numeric_limits<double>::quiet_NaN(); // of the message, not of the step
  values(telemetry::known_values(record), record.step);
}

/// A program measures its peak only so often; equal steps have equal peaks.
void Conversation::fill_peak(telemetry::StepRecord& record) {
  if (record.peak_bytes == 0)
    record.peak_bytes = record.micro_batch == last_micro_batch_
                            ? last_peak_bytes_
                            : std::max(record.allocated_bytes, record.reserved_bytes);
  else
    last_micro_batch_ = record.micro_batch;
  if (record.micro_batch == last_micro_batch_)
    last_peak_bytes_ = record.peak_bytes;
}

void Conversation::take(const EventMessage& message, bool live) {
  telemetry::Event event = message.event;
  if (!(event.seconds >= 0))
    event.seconds = seconds_();
  last_seconds_ = event.seconds;
  if (const auto* change = std::get_if<telemetry::StatusChange>(&event.body))
    return take(event, *change, live);
  if (auto* error = std::get_if<telemetry::OutOfMemory>(&event.body))
    take(*error);
  else if (const auto* change = std::get_if<telemetry::BudgetChange>(&event.body))
    take(*change);
  else if (std::holds_alternative<telemetry::ProgramLevel>(event.body))
    said_level_ = true;
  push(std::move(event));
}

/// On the CPU a program counts its whole process, of which libraries do not count for the budget.
void Conversation::take(telemetry::OutOfMemory& error) {
  using Counts = telemetry::OutOfMemory::Counts;
  if (error.counts == Counts::not_known)
    error.counts = device_.empty() || device_ == "cpu" ? Counts::process : Counts::budget;
  if (!telemetry::survived(error))
    out_of_memory_ = error;
}

/// With the budget before, the step is made once more: the error before it has been survived.
void Conversation::take(const telemetry::BudgetChange& change) {
  if (steering_)
    steering_->returned_to_budget(change);
  if (change.why == telemetry::BudgetChange::Why::taken_back)
    out_of_memory_.reset();
}

/// Stored, because the program does not say it again to a BatchScope that takes the run over.
void Conversation::take(const Bye& bye) {
  bye_ = bye;
  push({.step = steps(),
        .seconds = run_seconds(),
        .body = telemetry::ProgramBye{.status = bye.status, .reason = bye.reason},
        .message = bye.seq});
}

/// Once per pause and once per end of a pause, however many single steps are made in between.
void Conversation::take(telemetry::Event event, const telemetry::StatusChange& change, bool live) {
  const bool paused = change.status == telemetry::StatusChange::Status::paused;
  last_record_ = Clock::now();
  if (paused == said_paused_ || (!paused && paused_))
    return;
  said_paused_ = paused;
  if (live) // when an earlier one came, nobody knows
    std::get<telemetry::StatusChange>(event.body).at = utc_now();
  push(std::move(event));
}

void Conversation::fault(telemetry::EventBody fault) {
  report(std::move(fault));
}

void Conversation::gone() {
  say_connected();
  sent_ = 0;
}

void Conversation::need_followed_size() {
  // A program that is attached to may make steps before those of its DataLoader; its client says when none will come.
  if (spec_.program->attach && !has_loader_ && !said_level_ && steps() < steps_before_loader)
    return;
  if (follows_settings(spec_, level_, first_batch_) || !failure_.empty())
    return;
  failure_ = not_followed(spec_, level_);
  inbox_.send(stop_line(false));
}

void Conversation::say_what_is_not_followed() {
  if (follows_settings(spec_, level_, first_batch_) || std::exchange(said_not_followed_, true))
    return;
  if (place_.compared)
    failure_ = not_followed(spec_, level_);
  else
    report(telemetry::NotFollowed{not_followed(spec_, level_)});
}

// --- what the run says ---

void Conversation::follow(const run::RunControl::Orders& orders) {
  if (orders.stop && !stopping_) {
    stopping_ = true;
    inbox_.send(stop_line(orders.save));
  }
  if (orders.paused != paused_) {
    paused_ = orders.paused;
    inbox_.send(to_line(paused_ ? Order::pause : Order::resume));
  }
  for (int i = 0; i < orders.single_steps; ++i)
    inbox_.send(to_line(Order::step));
  for (const run::ScheduleEdit& edit : orders.edits) {
    if (steering_)
      inbox_.send(steering_->request(edit));
    else
      refuse(edit);
  }
  for (const run::BudgetChange& change : orders.budgets) {
    if (steering_)
      inbox_.send(steering_->request(change));
    else
      refuse(change);
  }
}

void Conversation::refuse(const run::BudgetChange& change) {
  report(telemetry::BudgetChange{
      .asked_bytes = change.bytes,
      .command = change.command,
      .refused = telemetry::because(Words::budget_not_steered, {{"why", why_not_steered(level_).code}})});
}

void Conversation::refuse(const run::ScheduleEdit& edit) {
  report(run::refused(edit, telemetry::because(Words::batch_not_steered, {{"why", why_not_steered(level_).code}})));
}

void Conversation::confirm() {
  const auto now = Clock::now();
  if (now - last_confirmed_ < confirm_interval)
    return;
  last_confirmed_ = now;
  const std::uint64_t stored = place_.stored ? place_.stored() : entries_;
  while (!to_confirm_.empty() && to_confirm_.front().first <= stored) {
    confirmed_ = std::max(confirmed_, to_confirm_.front().second);
    to_confirm_.pop_front();
  }
  if (confirmed_ == sent_ || inbox_.is_waiting())
    return;
  inbox_.send(stored_line(confirmed_));
  sent_ = confirmed_;
}

void Conversation::watch_for_silence() {
  if (to_describe_ && Clock::now() - said_hello_ >= settling)
    say_connected();
  if (said_silent_ || paused_ || reports_ == 0 || bye_ || step_seconds_.empty())
    return;
  const double silent = std::chrono::duration<double>(Clock::now() - last_record_).count();
  if (silent < silent_seconds)
    return;
  if (silent < silent_steps * median({step_seconds_.begin(), step_seconds_.end()}))
    return;
  said_silent_ = true;
  report(telemetry::Silent{silent});
}

void Conversation::end(const std::vector<run::ScheduleEdit>& late) {
  inbox_.serve();
  inbox_.take_spilled();
  say_connected();
  if (steering_)
    steering_->close();
  for (const run::ScheduleEdit& edit : late)
    report(run::refused(edit, telemetry::because(Words::too_late_for_program)));
}

// --- to the run's sink ---

/// Its own clock is the run's, as soon as the program has one.
double Conversation::run_seconds() const {
  return last_seconds_ < 0 ? seconds_() : last_seconds_;
}

void Conversation::report(telemetry::EventBody body) {
  push({.step = steps(), .seconds = run_seconds(), .body = std::move(body)});
}

void Conversation::record(const telemetry::StepRecord& given) {
  telemetry::StepRecord record = given;
  fill_sizes(record);
  ++entries_;
  progress_.take(record);
  sink_.record(record);
}

void Conversation::fill_sizes(telemetry::StepRecord& record) const {
  if (record.batch == 0) {
    record.batch = own_batch_;
    record.micro_batch = record.micro_batch > 0 ? record.micro_batch : own_batch_;
  }
  if (record.accumulate == 0)
    record.accumulate = std::max<std::int64_t>(start_.accumulate, spec_.accumulate);
  if (record.effective_batch == 0)
    record.effective_batch = saturated_product(saturated_product(record.batch, record.accumulate),
                                               start_.program ? start_.program->ranks : 1);
  if (record.examples_seen == 0)
    record.examples_seen = saturated_product(record.step, record.effective_batch);
}

void Conversation::values(std::vector<std::pair<std::string, double>> values, std::optional<std::int64_t> step) {
  push({.step = step.value_or(steps()),
        .seconds = run_seconds(),
        .body = telemetry::ValuesOnly{},
        .values = std::move(values)});
}

void Conversation::push(telemetry::Event event) {
  ++entries_;
  progress_.take(event);
  sink_.event(std::move(event));
}

} // namespace batchscope::program
