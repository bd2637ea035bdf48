#include "core/program/run/detail/supervisor.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>

#include "core/base/error.h"
#include "core/base/seconds_since.h"
#include "core/base/utc.h"
#include "core/program/process/command.h"
#include "core/telemetry/message.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

namespace {

using telemetry::RunStatus;
using telemetry::Words;

/// A stop of the job and the end of a pause are looked at so often; and output, whose lines have the time at which they
/// are seen.
constexpr int interval_ms = 50;
constexpr int output_interval_ms = 10;
/// From SIGTERM to SIGKILL.
constexpr double last_seconds = 10;

int level_in(const run::RunStart& start) {
  return start.program ? start.program->level : 0;
}

} // namespace

Supervisor::Supervisor(const run::RunSpec& spec, const run::RunPlace& place, const ProgramFolder& folder, Link& link,
                       Process process, ReadFiles files, telemetry::Sink& sink)
    : spec_(spec), place_(place), folder_(folder), link_(link), process_(std::move(process)),
      conversation_(spec, place, link, folder.spill(), folder.output().string(), sink, [this] { return seconds(); }),
      output_(folder.output()), metrics_(spec.program->metrics), files_(std::move(files)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), began_(Clock::now()) {
  if (auto group = process_.group())
    memory_.emplace(*std::move(group));
}

void Supervisor::begin(const run::RunStart& start) {
  conversation_.begin(start);
}

void Supervisor::resume(const LeftRun& left, const run::RunStart& start) {
  seconds_before_ = left.progress.outcome().seconds;
  left_step_ = last_step_ = left.progress.outcome().steps;
  last_steps_ = left.last_steps;
  left_end_ = left.end;
  if (left.paused && level_in(start) == 0)
    paused_at_ = Clock::now(); // from outside, as only the system can go on with it
  conversation_.resume(left, start);
}

double Supervisor::seconds() const {
  const double pausing = paused_at_ ? seconds_since(*paused_at_) : 0;
  return seconds_before_ + seconds_since(began_) - paused_seconds_ - pausing;
}

std::optional<std::uint64_t> Supervisor::peak() const {
  const std::uint64_t seen = conversation_.progress().outcome().peak_bytes;
  const std::uint64_t measured = memory_ ? memory_->peak().value_or(0) : 0;
  // The program's reports take precedence over the measurement from outside, which has the interpreter and its
  // libraries in it.
  const std::uint64_t peak = conversation_.has_reports() && seen > 0 ? seen : std::max(seen, measured);
  return peak > 0 ? std::optional(peak) : std::nullopt;
}

telemetry::RunOutcome Supervisor::run(run::RunControl& control) {
  control.notify([wake = wake_.get()] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake, &one, sizeof one);
  });
  const struct Unnotified { // also after an exception: the descriptor is closed with the supervisor
    run::RunControl& control;
    ~Unnotified() { control.notify({}); }
  } unnotified{control};
  while (!(exit_ = process_.poll())) {
    wait();
    conversation_.serve();
    follow(control.take());
    if (control.killing())
      kill();
    read_output(false);
    if (memory_ && !conversation_.connected())
      memory_->sample();
    stop_if_due();
    conversation_.watch_for_silence();
    watch_for_connection();
    watch_for_steps();
    conversation_.confirm();
  }
  return finish(control);
}

void Supervisor::wait() {
  std::vector<pollfd> waits{{process_.ended_fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  link_.add_to(waits);
  ::poll(waits.data(), waits.size(),
         link_.has_more() || output_.has_more() || files_.has_more() ? 0
         : metrics_.empty()                                          ? interval_ms
                                                                     : output_interval_ms);
  std::uint64_t changes = 0;
  [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &changes, sizeof changes);
}

void Supervisor::follow(const run::RunControl::Orders& orders) {
  if (orders.stop && !stop_requested_) {
    stop_requested_ = true;
    begin_stop();
  }
  conversation_.follow(orders);
  pause_from_outside(orders.paused && !orders.stop && !conversation_.connected());
}

/// A program that does not listen is stopped by the system; it keeps its memory.
void Supervisor::pause_from_outside(bool paused) {
  if (paused == paused_at_.has_value())
    return;
  process_.signal(paused ? SIGSTOP : SIGCONT);
  if (!paused)
    paused_seconds_ += seconds_since(*paused_at_);
  paused_at_ = paused ? std::optional(Clock::now()) : std::nullopt;
  using Status = telemetry::StatusChange::Status;
  conversation_.report(telemetry::StatusChange{.status = paused ? Status::paused : Status::running, .at = utc_now()});
}

void Supervisor::kill() {
  stop_requested_ = true;
  if (std::exchange(ending_, Stage::killed) != Stage::killed)
    process_.signal(SIGKILL);
}

void Supervisor::read_output(bool ended) {
  for (telemetry::StepRecord& record : files_.poll(ended))
    take_read(std::move(record));
  if (metrics_.empty())
    return;
  if (!ended)
    return read_lines(false);
  // Reads only the present content: a process that the program has left behind may go on writing.
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(folder_.output(), ignored);
  do {
    read_lines(true);
  } while (output_.has_more() && output_.position() < size);
  if (auto record = metrics_.finish())
    take_metrics(*std::move(record));
}

void Supervisor::read_lines(bool ended) {
  for (const std::string& line : output_.poll(ended))
    if (auto record = metrics_.take(line))
      take_metrics(*std::move(record));
}

/// Reports that the run's settings have no effect if the program trains without listening. It may still connect: a run
/// of a sweep fails for that at its end only.
void Supervisor::watch_for_connection() {
  if (conversation_.level() > 0 || place_.compared)
    return;
  constexpr std::int64_t enough_steps = 3;
  constexpr double enough_seconds = 60;
  if (last_step_ - left_step_ >= enough_steps || seconds_since(began_) >= enough_seconds)
    conversation_.say_what_is_not_followed();
}

/// Reports early why no step comes, to a user who waits for one.
void Supervisor::watch_for_steps() {
  constexpr std::int64_t patience_seconds = 30;
  if (!said_no_step_ && conversation_.progress().outcome().steps == 0 &&
      seconds_since(began_) >= static_cast<double>(patience_seconds))
    report_no_step(patience_seconds);
}

void Supervisor::report_no_step(std::optional<std::int64_t> waited_seconds) {
  if (std::exchange(said_no_step_, true))
    return;
  telemetry::Reason reason = telemetry::because(Words::no_step_seen);
  if (waited_seconds)
    reason.args["waited"] = *waited_seconds;
  if (!spec_.program->attach)
    reason.args["option"] = std::string("--attach auto");
  conversation_.report(telemetry::Lint{std::move(reason)});
}

/// The program's own reports have the steps if it sends any.
void Supervisor::take_metrics(telemetry::StepRecord record) {
  if (record.step <= left_step_)
    return; // stored before the run was taken over
  if (!conversation_.has_reports() && record.step > last_step_)
    return make_step(std::move(record));
  conversation_.values(telemetry::known_values(record));
}

/// Values from a file belong to the steps that the file names. A file that was written anew has steps that are known.
void Supervisor::take_read(telemetry::StepRecord record) {
  std::erase_if(record.more, [&](const auto& value) {
    const auto [last, is_first] = last_steps_.try_emplace(value.first, record.step);
    return !is_first && std::exchange(last->second, std::max(last->second, record.step)) >= record.step;
  });
  if (!conversation_.has_reports() && record.step > last_step_)
    return make_step(std::move(record));
  if (!record.more.empty())
    conversation_.values(std::move(record.more), record.step);
}

/// A step of a program that reports none.
void Supervisor::make_step(telemetry::StepRecord record) {
  last_step_ = record.step;
  record.seconds = seconds();
  if (const auto bytes = memory_ ? memory_->sample() : std::nullopt)
    record.allocated_bytes = static_cast<std::int64_t>(*bytes);
  if (memory_)
    record.peak_bytes = static_cast<std::int64_t>(memory_->peak().value_or(0));
  conversation_.record(record);
}

void Supervisor::stop_if_due() {
  const double trained = conversation_.has_reports() ? conversation_.progress().clock().training_seconds() : seconds();
  if (spec_.max_seconds && trained >= *spec_.max_seconds && ending_ == Stage::none) {
    time_over_ = true;
    conversation_.report(telemetry::TimeOver{.seconds = spec_.max_seconds});
    conversation_.follow({.stop = true, .save = false, .paused = false, .single_steps = 0, .edits = {}, .budgets = {}});
    begin_stop();
  }
  if (!conversation_.failure().empty() && ending_ == Stage::none)
    begin_stop();
  escalate();
}

/// Over the socket it is asked to stop at its next step boundary.
void Supervisor::begin_stop() {
  if (ending_ != Stage::none)
    return;
  ending_ = Stage::asked;
  asked_at_ = Clock::now();
  pause_from_outside(false);
  if (conversation_.connected())
    return;
  if (memory_)
    memory_->measure(); // the last look at what it has taken
  process_.signal(SIGINT);
}

void Supervisor::escalate() {
  const double waited = seconds_since(asked_at_);
  const double grace = spec_.program->grace;
  if (ending_ == Stage::asked && waited >= grace) {
    ending_ = Stage::terminated;
    process_.signal(SIGTERM);
  } else if (ending_ == Stage::terminated && waited >= grace + last_seconds) {
    ending_ = Stage::killed;
    process_.signal(SIGKILL);
  }
}

telemetry::RunOutcome Supervisor::finish(run::RunControl& control) {
  conversation_.end(control.close());
  read_output(true);
  Ending ending{.exit = *exit_,
                .output_tail = output_.tail(),
                .stop_requested = stop_requested_,
                .listened = conversation_.level() > 0,
                .said_finished = conversation_.bye() && conversation_.bye()->status == "finished",
                .oom = conversation_.out_of_memory(),
                .limit = spec_.program->attach ? std::nullopt : spec_.memory_budget,
                .peak = peak()};
  const std::optional<Bye>& bye = conversation_.bye();
  if (bye && !exit_->code && !exit_->signal) // its own word is all that is known
    ending.exit.code = bye->status == "failed" ? 1 : 0;
  verdict_ = verdict_on(ending);
  if (time_over_ && !stop_requested_)
    verdict_ = {.status = RunStatus::finished};
  if (verdict_.status == RunStatus::finished && !left_end_)
    conversation_.say_what_is_not_followed();
  if (!conversation_.failure().empty())
    verdict_ = {.status = RunStatus::failed, .reason = conversation_.failure()};
  if (left_end_) { // the program had ended when the run was taken over, and this was stored already
    exit_ = left_end_->exit;
    verdict_ = {.status = left_end_->status, .reason = left_end_->reason};
  } else {
    report_end();
  }
  process_.signal(SIGKILL); // what the program has left behind
  telemetry::RunOutcome outcome = conversation_.progress().outcome();
  outcome.status = verdict_.status;
  outcome.reason = verdict_.reason_text();
  // Without a step, nothing was reported: what the process took is no peak of a step of others that are attached to.
  if (!spec_.program->attach || outcome.steps > 0)
    outcome.peak_bytes = std::max(outcome.peak_bytes, peak().value_or(0));
  if (!outcome.batch)
    outcome.batch = conversation_.own_batch(); // it has reported no step
  if (outcome.steps == 0)
    outcome.seconds = seconds();
  return outcome;
}

/// As an error that the program reports itself, with what is known of it from outside.
telemetry::OutOfMemory Supervisor::out_of_memory_from_outside() const {
  telemetry::OutOfMemory error{.where = telemetry::OutOfMemory::Where::outside,
                               .in_use_bytes = peak(),
                               .counts = telemetry::OutOfMemory::Counts::process,
                               .limit_bytes = spec_.memory_budget,
                               .cause = verdict_.cause};
  if (const auto text = verdict_.reason.args.find("error"); text != verdict_.reason.args.end())
    error.error = std::get<std::string>(text->second);
  if (spec_.batch.kind == run::BatchChoice::Kind::number)
    error.attempted_batch = spec_.batch.number;
  return error;
}

/// A program that was to train and has only started what trains. Others have helpers that end a moment later.
void Supervisor::report_left_behind() {
  if (exit_->code != 0 || conversation_.progress().outcome().steps > 0)
    return;
  auto group = process_.group();
  const std::size_t count = group ? group->members().size() : 0;
  if (count > 0)
    conversation_.report(telemetry::LeftBehind{.processes = static_cast<std::int64_t>(count)});
}

void Supervisor::report_end() {
  if (verdict_.out_of_memory) {
    shortage_ = conversation_.out_of_memory();
    if (!shortage_)
      conversation_.report(shortage_.emplace(out_of_memory_from_outside()));
  }
  if (conversation_.level() > 0 && !conversation_.bye() && exit_->code == 0)
    conversation_.report(telemetry::NoBye{});
  report_left_behind();
  if (verdict_.status == RunStatus::finished && conversation_.progress().outcome().steps == 0)
    report_no_step({});
  for (const std::string& name : metrics_.unmatched())
    conversation_.report(telemetry::Unread{telemetry::because(Words::nothing_matches, {{"metric", name}})});
  if (!files_.problem().empty())
    conversation_.report(telemetry::Unread{telemetry::because(Words::file_not_read, {{"error", files_.problem()}})});
  if (verdict_.status == RunStatus::failed)
    conversation_.report(telemetry::ProgramOutput{.tail = output_.tail(), .file = folder_.output().string()});
  conversation_.report(telemetry::ProgramExit{.exit_code = exit_->code,
                                              .signal = exit_->signal,
                                              .status = telemetry::to_string(verdict_.status),
                                              .reason = verdict_.reason});
}

} // namespace batchscope::program
