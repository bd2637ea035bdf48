#include "core/program/trial/process_trial.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/lookout.h"
#include "core/base/processor_time.h"
#include "core/base/seconds_since.h"
#include "core/base/text.h"
#include "core/program/process/command.h"

namespace batchscope::program {

namespace {

using Clock = std::chrono::steady_clock;

/// Seconds that a program of a trial has to end, before it is killed: what it has learned is thrown away.
constexpr double end_seconds = 2;

/// Steps of a trial's program so far. A size that goes over the socket must have reached it.
class Steps final : public telemetry::Sink {
public:
  /// `sent`: the size, if it goes over the socket.
  /// `timed`: the steps are to take long enough to be timed, too.
  Steps(std::int64_t enough, bool timed, std::optional<std::int64_t> sent, run::JobControl& job)
      : enough_(enough), timed_(timed), sent_(sent), job_(job) {}

  void start_changed(const run::RunStart& start) {
    level_ = start.program ? start.program->level : 0;
    takes_batch_ = start.program && start.program->first_batch;
  }
  void record(const telemetry::StepRecord& record) override {
    if (sent_ && (!takes_batch_ || record.batch != *sent_)) {
      other_batch_ = record.batch;
      if (!takes_batch_ || ++others_ > most_others)
        job_.stop();
      return;
    }
    if (job_.stopping()) // lines that were printed together have one time: the first of them ends the timing
      return;
    ++count_;
    if (count_ == 1) {
      first_ = record;
      if (const std::int64_t pid = process_ ? process_() : 0; pid > 0)
        watch_.emplace(std::to_string(pid));
    } else {
      examples_ += record.effective_batch;
    }
    last_ = record;
    if (!enough() || (timed_ && !step_seconds()))
      return;
    if (watch_)
      share_ = watch_->share();
    job_.stop();
  }
  void event(telemetry::Event event) override {
    const auto* error = std::get_if<telemetry::OutOfMemory>(&event.body);
    if (!error || !concerns_size(*error))
      return;
    out_of_memory_ = true;
    job_.stop();
  }

  bool enough() const { return count_ >= enough_; }
  /// Whether the program was sent a size without a way to take it.
  bool takes_no_batch() const { return sent_ && !takes_batch_; }
  int level() const { return level_; }
  /// The size of steps that were made with another one than was sent; nothing if there were some with that.
  std::optional<std::int64_t> other_batch() const { return count_ == 0 ? other_batch_ : std::nullopt; }
  bool out_of_memory() const { return out_of_memory_ && !enough(); }
  bool made_steps() const { return count_ > 0; }
  /// Seconds of a step; nothing for fewer than two steps. The first is left out: it begins with the program. Steps that
  /// were read from output have the time at which they were seen, which must be much longer than it takes to look.
  std::optional<double> step_seconds() const {
    constexpr double shortest_seen = 0.1;
    const double seconds = last_.seconds - first_.seconds;
    if (last_.step <= first_.step || !(seconds > (level_ == 0 ? shortest_seen : 0)))
      return std::nullopt;
    return seconds / static_cast<double>(last_.step - first_.step);
  }

  /// Examples of a step, of those that are timed; there are at least two.
  double examples() const { return static_cast<double>(examples_) / static_cast<double>(count_ - 1); }
  std::int64_t timed_steps() const { return last_.step - first_.step; } ///< if step_seconds() is known
  /// Processor share of the process from the first step to the last.
  const ProcessorShare& share() const { return share_; }
  void set_process(std::function<std::int64_t()> process) { process_ = std::move(process); } ///< its number; 0: unknown

private:
  /// Whether the size does not fit: one that ran in parts did not, one that was tried again, or whose evaluation went
  /// on, may.
  static bool concerns_size(const telemetry::OutOfMemory& error) {
    using Oom = telemetry::OutOfMemory;
    return !telemetry::survived(error) ||
           (error.outcome != Oom::Outcome::retried && error.where != Oom::Where::evaluation);
  }

  /// An answer to the hello that comes late holds only from a later step on.
  static constexpr std::int64_t most_others = 16;

  const std::int64_t enough_;
  const bool timed_;
  const std::optional<std::int64_t> sent_;
  run::JobControl& job_;
  int level_ = 0;
  bool takes_batch_ = false;
  std::int64_t count_ = 0;
  std::int64_t examples_ = 0; ///< of all but the first
  std::int64_t others_ = 0;
  std::optional<std::int64_t> other_batch_;
  telemetry::StepRecord first_;
  telemetry::StepRecord last_;
  bool out_of_memory_ = false;
  std::function<std::int64_t()> process_;
  std::optional<ProcessorWatch> watch_;
  ProcessorShare share_;
};

/// Ends a trial that has shown enough, that took its time, or that is to be stopped. Used by the thread of a Lookout.
class Ender {
public:
  Ender(double most_seconds, const std::function<bool()>& stop, run::JobControl& job)
      : most_seconds_(most_seconds), stop_(stop), job_(job) {}

  void look() {
    if (!job_.stopping() && seconds_since(began_) >= most_seconds_)
      passed_ = true;
    if (passed_ || (stop_ && stop_()))
      job_.stop();
    if (job_.stopping() && !stopped_)
      stopped_ = Clock::now();
    if (stopped_ && seconds_since(*stopped_) >= end_seconds)
      job_.kill();
  }
  /// After the last look: the program ran as long as it was to, without an end of its own.
  bool passed() const { return passed_; }

private:
  const double most_seconds_;
  const std::function<bool()>& stop_;
  run::JobControl& job_;
  const Clock::time_point began_ = Clock::now();
  std::optional<Clock::time_point> stopped_;
  bool passed_ = false;
};

/// Whether the program has used its budget up.
bool near_budget(const run::RunSpec& spec, const ProgramRun& source) {
  constexpr double near = 0.9;
  const auto peak = source.peak();
  return spec.memory_budget && peak && static_cast<double>(*peak) >= near * static_cast<double>(*spec.memory_budget);
}

} // namespace

struct ProcessTrial::Result {
  search::Outcome outcome = search::Outcome::error;
  std::string message;
  std::int64_t pid = 0;
  std::optional<std::uint64_t> peak_bytes;
  std::optional<double> step_seconds;
  double examples = 0;          ///< of a step, if step_seconds is known
  std::int64_t timed_steps = 0; ///< likewise
  ProcessorShare share;         ///< of these
  bool made_steps = false;
  double spent_seconds = 0;
};

ProcessTrial::ProcessTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop,
                           Open open)
    : spec_(spec), surroundings_(surroundings), stop_(std::move(stop)), open_(std::move(open)) {}

ProcessTrial::Result ProcessTrial::start(std::int64_t batch, bool for_time) const {
  run::RunSpec spec = spec_;
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = batch};
  spec.on_oom = run::OnOom::fail;
  Surroundings surroundings = surroundings_;
  surroundings.returns_freed_memory = !for_time;
  surroundings.throws_away = true;
  if (for_time)
    spec.memory_budget.reset(); // with a budget, freed memory is returned at once, too
  // The first step is not counted for the time.
  const std::int64_t enough = spec.program->probe_steps + (for_time ? 1 : 0);

  const auto began = Clock::now();
  const auto job = std::make_shared<run::JobControl>();
  run::RunControl control(job);
  Steps steps(enough, for_time, sends_batch(spec) ? std::optional(batch) : std::nullopt, *job);
  const auto source = open_(spec, surroundings);
  steps.set_process([&source] { return source->pid(); });
  run::RunPlace place;
  place.start_changed = [&](const run::RunStart& start) { steps.start_changed(start); };
  source->set_place(place);
  Ender ender(spec.program->probe_seconds, stop_, *job);
  {
    const Lookout lookout([&ender] { ender.look(); });
    source->run(steps, control);
  }
  if (stop_ && stop_())
    throw Error(Error::Kind::failed, "stopped");

  Result result;
  const Verdict& verdict = source->verdict();
  if (steps.out_of_memory() || (verdict.out_of_memory && !steps.enough()))
    result.outcome = search::Outcome::out_of_memory;
  else if (steps.takes_no_batch() && (job->stopping() || (source->exit() && source->exit()->code == 0)))
    throw takes_no_batch(steps.level());
  else if (const auto other = steps.other_batch())
    result.message = fmt::format("the program ran batch size {} instead", *other);
  else if (steps.enough() || ender.passed() || verdict.status == telemetry::RunStatus::finished)
    result.outcome = search::Outcome::fits;
  else
    result.message =
        !steps.made_steps() && near_budget(spec, *source)
            ? fmt::format("the program made no step within {} (--memory-budget; its libraries count, too): {}",
                          format_bytes(*spec.memory_budget), verdict.reason_text())
            : verdict.reason_text();
  result.made_steps = steps.made_steps();
  result.pid = source->pid();
  result.peak_bytes = source->peak();
  result.step_seconds = steps.step_seconds();
  if (result.step_seconds) {
    result.examples = steps.examples();
    result.timed_steps = steps.timed_steps();
    result.share = steps.share();
  }
  result.spent_seconds = seconds_since(began);
  return result;
}

search::Probe ProcessTrial::run(const search::Proposal& proposal) {
  const Result result = start(proposal.batch, false);
  search::Probe probe{.batch = proposal.batch, .outcome = result.outcome, .predicted_bytes = proposal.predicted_bytes};
  if (probe.outcome == search::Outcome::fits) {
    probe.peak_bytes = result.peak_bytes;
    probe.seconds = result.step_seconds;
    if (result.step_seconds)
      probe.examples_per_second = result.examples / *result.step_seconds;
  }
  probe.message = result.message;
  probe.how = "process";
  if (result.pid > 0)
    probe.pid = result.pid;
  return probe;
}

std::optional<search::TimedSteps> ProcessTrial::time(std::int64_t batch) {
  const Result result = start(batch, true);
  too_short_ = result.made_steps && !result.step_seconds;
  if (result.outcome != search::Outcome::fits || !result.step_seconds)
    return std::nullopt;
  const std::vector<double> each(static_cast<std::size_t>(result.timed_steps), *result.step_seconds);
  search::TimedSteps stretch = search::timed_steps_of(each, result.examples, result.share);
  stretch.spent_seconds = result.spent_seconds;
  return stretch;
}

} // namespace batchscope::program
