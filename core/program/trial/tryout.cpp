#include "core/program/trial/tryout.h"

#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "core/base/lookout.h"
#include "core/base/median.h"
#include "core/base/seconds_since.h"
#include "core/program/run/program_source.h"

namespace batchscope::program {

namespace {

constexpr std::int64_t least_steps = 3;
/// A program that was asked for another size takes it after so many steps, or, if its steps are short, so long.
constexpr std::int64_t steps_to_change = 4;
constexpr double seconds_to_change = 5;

using Clock = std::chrono::steady_clock;

/// Follows the program and decides when it has shown enough. Used by the thread of the run, except where noted.
class Observer final : public telemetry::Sink {
public:
  Observer(const run::ProgramSpec& program, run::RunControl& control, std::function<void(const Tryout&)> on_progress)
      : enough_(std::max(program.probe_steps, least_steps)), control_(control), on_progress_(std::move(on_progress)) {}

  void start_changed(const run::RunStart& start) {
    if (start.program->level == 0)
      return; // it has begun, but has not said anything
    tryout_.start = start;
    progressed();
  }

  void record(const telemetry::StepRecord& record) override {
    ++tryout_.steps;
    if (record.peak_bytes > 0)
      tryout_.peak_bytes = std::max(tryout_.peak_bytes.value_or(0), static_cast<std::uint64_t>(record.peak_bytes));
    note_time(record.seconds);
    note_batch(record.batch);
    progressed();
    if (tryout_.steps >= enough_ && !changing())
      control_.stop();
  }

  void event(telemetry::Event event) override {
    if (const auto* level = std::get_if<telemetry::ProgramLevel>(&event.body))
      tryout_.limited_by = level->reason;
    else if (const auto* watched = std::get_if<telemetry::Watched>(&event.body))
      tryout_.remarks.push_back(watched->reason);
    else if (const auto* lint = std::get_if<telemetry::Lint>(&event.body))
      tryout_.remarks.push_back(lint->reason);
  }

  /// Any thread: seconds since its start, since it has connected, or since its last step.
  double silent_for() const { return seconds_since(last_progress_.load()); }
  /// Another thread: ends a program that was waited for in vain.
  void give_up(double seconds) {
    if (control_.stopping())
      return;
    gave_up_after_ = seconds;
    control_.stop();
  }
  /// After the run.
  Tryout finished() {
    if (const double seconds = gave_up_after_; seconds > 0)
      tryout_.reason = fmt::format("stopped, because it {} for {:g} s",
                                   tryout_.steps > 0     ? "reported no further step"
                                   : tryout_.level() > 0 ? "has connected, but made no step"
                                                         : "neither connected nor reported a step",
                                   seconds);
    if (step_seconds_.size() > 1)
      tryout_.step_seconds = median({step_seconds_.begin() + 1, step_seconds_.end()});
    return std::move(tryout_);
  }

private:
  void note_time(double seconds) {
    if (last_seconds_)
      step_seconds_.push_back(seconds - *last_seconds_);
    last_seconds_ = seconds;
  }

  bool changing() const {
    return asked_at_ && !tryout_.changed_batch &&
           (tryout_.steps < enough_ + steps_to_change || seconds_since(*asked_at_) < seconds_to_change);
  }

  void note_batch(std::int64_t batch) {
    if (batch < 1)
      return;
    if (!tryout_.batch) {
      tryout_.batch = batch;
      const std::int64_t other = batch > 1 ? batch / 2 : 2;
      if (tryout_.level() >= 2 && control_.edit({.schedule = "constant", .batch = other}))
        asked_at_ = Clock::now();
    } else if (asked_at_ && batch != *tryout_.batch) {
      tryout_.changed_batch = batch;
    }
  }

  void progressed() {
    last_progress_ = Clock::now();
    if (on_progress_)
      on_progress_(tryout_);
  }

  const std::int64_t enough_; ///< steps
  run::RunControl& control_;
  const std::function<void(const Tryout&)> on_progress_;
  Tryout tryout_;
  std::optional<Clock::time_point> asked_at_; ///< for another size
  std::optional<double> last_seconds_;
  std::vector<double> step_seconds_;
  std::atomic<Clock::time_point> last_progress_{Clock::now()};
  std::atomic<double> gave_up_after_{0}; ///< seconds; 0: it did not
};

} // namespace

Tryout try_out(const run::RunSpec& spec, double silent_seconds, const std::function<bool()>& stop,
               const std::function<void(const Tryout&)>& on_progress) {
  const auto began = Clock::now();
  const auto source = open_program(spec);
  run::RunControl control;
  Observer observer(*spec.program, control, on_progress);
  run::RunPlace place;
  place.start_changed = [&](const run::RunStart& start) { observer.start_changed(start); };
  source->set_place(place);
  telemetry::RunOutcome outcome;
  {
    const Lookout lookout([&] {
      if (stop())
        control.stop();
      else if (observer.silent_for() > silent_seconds)
        observer.give_up(silent_seconds);
    });
    outcome = source->run(observer, control);
  }
  Tryout tryout = observer.finished();
  tryout.seconds = seconds_since(began);
  tryout.status = outcome.status;
  if (outcome.status != telemetry::RunStatus::stopped)
    tryout.reason = outcome.reason;
  if (!tryout.peak_bytes)
    tryout.peak_bytes = source->peak();
  tryout.output = source->output_tail();
  return tryout;
}

} // namespace batchscope::program
