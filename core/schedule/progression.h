#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/data/sampler.h"
#include "core/schedule/batch_schedule.h"
#include "core/schedule/learning_rate.h"

namespace batchscope::schedule {

struct ProgressionOptions {
  data::SamplerOptions sampler;
  RunLength length;
  std::int64_t batch = 1;                ///< first nominal batch; above N/R is refused
  std::optional<std::int64_t> max_batch; ///< bound for the schedule besides N/R
  std::string schedule = "constant";
  LearningRateOptions learning_rate;
  bool has_tokens = true; ///< whether examples have tokens; where not, schedules that count them are refused
};

/// One optimizer step as planned: what `plan` prints, the window draws and the training loop runs.
struct PlannedStep {
  std::int64_t step = 0; ///< 1 for the first
  data::StepTakes takes;
  std::int64_t batch = 0;             ///< nominal
  std::int64_t nominal_effective = 0; ///< b*k*R, or B where that was named
  double epoch = 0;                   ///< examples seen / N after the step
  double train_coverage = 0;          ///< after the step
  double progress = 0;                ///< of the run, at the start of the step
  double learning_rate = 0;
};

/// Steps of a whole run of which `step` is one, if all that come after it take as many examples: what a plan comes to
/// that is too long to be walked. Of a plan of equal steps it is exact to about 1 in 10^15.
double steps_foreseen(const ProgressionOptions& options, const PlannedStep& step);

/// A schedule asked for something and did not get it, or could not answer. The same answer at one step after the other
/// is reported once.
struct ScheduleEvent {
  std::int64_t step = 0; ///< steps done when it was asked
  std::string kind;      ///< `clamp` or `schedule-problem`
  std::int64_t asked = 0;
  std::int64_t given = 0;
  std::string message;
};

/// Measured values that a schedule may look at; NaN where there are none.
struct Feedback {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double vram_fraction = std::numeric_limits<double>::quiet_NaN();
  std::int64_t tokens = 0; ///< of the step
};

/// The course of a run: sampler, schedule and learning rate put together. `plan` and the training loop both walk it,
/// so they cannot drift apart. Per step: `next()`, then `done(feedback)` asks the schedule once. One thread.
class Progression {
public:
  using EventSink = std::function<void(const ScheduleEvent&)>;

  /// Throws Error (input) for a first batch above N/R or max_batch, an effective batch above N, a bad length or
  /// schedule.
  explicit Progression(const ProgressionOptions& options, EventSink on_event = {});
  ~Progression();
  Progression(Progression&&) noexcept;
  Progression& operator=(Progression&&) noexcept;

  /// The next step, or nothing when the run is through. Calling it again before done() gives the same step.
  std::optional<PlannedStep> next();
  /// The step of the last next() was made: counts it and asks the schedule.
  void done(const Feedback& feedback = {});

  /// Puts another schedule in at this step boundary, with the present batch as its base; the base of an edited one may
  /// be one of the last eight that the run has had, and goes on then; where `batch` (within the run's bound) is given,
  /// the very next step uses it, also if next() was called for it already. Throws Error (input) and changes nothing
  /// where the text is wrong.
  void edit(const std::string& schedule, std::optional<std::int64_t> batch = std::nullopt);

  /// After done(): whether the epoch of that step is over (the next step begins another one, or the run is through).
  /// Unlike StepTakes::passed_in_epoch this knows the size that the schedule has just decided on.
  bool epoch_ended() const;

  /// Steps done, and the nominal batch of the next step.
  std::int64_t steps_done() const;
  std::int64_t batch() const;
  bool needs_feedback() const;
  const std::string& schedule_text() const;

  /// How many steps this thread has planned so far, over all progressions: shows where plans are made.
  static std::uint64_t planned_by_this_thread();

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::schedule
