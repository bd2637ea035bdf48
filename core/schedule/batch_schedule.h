#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/gradient_noise.h"
#include "core/telemetry/reason.h"

namespace batchscope::schedule {

/// Length of a run: exactly one of the three is set.
struct RunLength {
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> examples;
  std::optional<std::int64_t> steps;

  bool operator==(const RunLength&) const = default;
};

/// Share of a run that is done, 0..1 and possibly a little more: `epochs` are passes over the data, tails that were
/// dropped included. Nothing if the length is unset or what it counts is unknown.
std::optional<double> fraction_done(const RunLength& length, std::int64_t steps, std::int64_t examples,
                                    std::optional<double> epochs);

/// Input of a schedule after each optimizer step.
struct ScheduleState {
  std::int64_t step = 0;        ///< steps done; 1 in the first call
  std::int64_t batch = 0;       ///< nominal batch of the step just made
  std::int64_t epoch_index = 0; ///< 0-based
  std::int64_t examples_seen = 0;
  std::int64_t tokens_seen = 0;     ///< 0 if examples have no tokens
  std::int64_t examples = 0;        ///< N, examples in an epoch
  double epoch = 0;                 ///< examples_seen / N
  double coverage = 0;              ///< of the current epoch, 0..1
  double epochs_passed = 0;         ///< epoch_index + the part of the epoch that is over; a dropped tail counts as over
  double progress = 0;              ///< of the whole run, 0..1
  std::int64_t max_batch = 0;       ///< upper bound to which the result is clamped
  std::int64_t batches_in_step = 1; ///< nominal batches per optimizer step, over all ranks
  // Measured during a run; NaN when planning.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double loss_ema = std::numeric_limits<double>::quiet_NaN();      ///< moving average with factor 0.98; NaN skipped
  double vram_fraction = std::numeric_limits<double>::quiet_NaN(); ///< peak bytes of the step / memory limit
  GradientNoise noise;
  double gains = 0; ///< sum over the steps done of AdaScale's gain; without that rule, the number of steps
};

struct ScheduleAnswer {
  std::int64_t batch = 1;      ///< before clamping; saturates at the range of int64
  telemetry::Reason problem{}; ///< why the schedule gave no result (the batch is kept then); empty if it did
};

struct Course;
struct ScheduleOrigin;

/// Chooses the nominal batch after each optimizer step. Deterministic; one thread at a time. What it answers depends on
/// its text, its origin(), the state that it is given and its own state, so that a checkpoint can make it again.
class BatchSchedule {
public:
  virtual ~BatchSchedule() = default;
  virtual ScheduleAnswer next(const ScheduleState& state) = 0;
  /// Learning rate factor of the current stage (AdaBatch's decay); 1 for the other schedules.
  virtual double learning_rate_factor(const ScheduleState& state) const;
  /// Whether it uses loss, memory or tokens, which are not known when planning.
  virtual bool needs_feedback() const { return false; }
  /// Whether it uses the gradient noise scale, which then has to be measured.
  virtual bool needs_noise() const { return false; }
  /// Whether it uses the progress of the run, which is not known of a run of unknown length.
  virtual bool needs_length() const { return false; }
  /// The batch of the very next step if the schedule is applied at `origin` and no other batch is requested.
  virtual std::int64_t first_batch(const ScheduleOrigin& origin) const;
  /// Base of an edited schedule, which keeps counting during the overrides. Nothing for other schedules.
  virtual std::optional<Course> base() const;
  /// A text from which make_schedule() makes the same schedule.
  virtual std::string text() const = 0;

  /// State that next() has changed, besides the course of a base, as a text for restore() of the same schedule; empty
  /// for most. restore() throws Error (input) or Json::exception for another text.
  virtual std::string state() const { return {}; }
  virtual void restore(const std::string& /*state*/) {}

  /// Where it begins, without courses; set by make_schedule().
  const ScheduleOrigin& origin() const { return *origin_; }
  void set_origin(ScheduleOrigin origin);

private:
  std::shared_ptr<const ScheduleOrigin> origin_;
};

/// A schedule with its state, and its current batch.
struct Course {
  std::shared_ptr<BatchSchedule> schedule;
  std::int64_t batch = 1;
};

/// Evaluates the course's schedule after a step, as if all steps had used the course's batch sizes, and advances the
/// course.
ScheduleAnswer advance(Course& course, ScheduleState state);

/// Where a schedule begins: at step 0 of a run, or at the step boundary at which it was applied.
struct ScheduleOrigin {
  std::int64_t batch = 1;     ///< first nominal batch of the schedule
  std::int64_t max_batch = 1; ///< limit of the run: min(--max-batch, N/R)
  ScheduleState state;        ///< at the origin; at the start of a run all zero but `examples`
  bool has_tokens = true;     ///< whether examples have tokens; true if not known
  /// The run's recent schedules, the current one last. The base of an edited schedule continues if it is among them.
  std::vector<Course> courses = {};
};

/// Makes a schedule from its text, see schedule_kinds(): `constant`, `step:interval=5,increment=1`,
/// `linear:max=64[,epochs=|steps=|examples=|tokens=]`, `exponential:max=64,...`, `piecewise:0=16,100=32`,
/// `adabatch:factor=2,every=2[,lr-decay=0.375]`, `plateau:factor=2,patience=50[,threshold=0.01][,shrink=2]`,
/// `noise:multiplier=1[,every=50]`, `formula:EXPRESSION`,
/// `edited:FROM-TO=BATCH,...[,batch=B],base=SCHEDULE`. Intervals, ramps and stages count from the origin; the steps of
/// `piecewise` count from the start of the run. A ramp without a length takes the rest of the run; without `lr-decay`
/// the learning rate has no stages. A formula is tested on the state of its first call, with loss 1, vram_fraction
/// 0.5 and a noise scale of the batch. `plateau` compares the smoothed loss with its lowest so far every `patience`
/// steps: after a fall of less than `threshold` the batch is multiplied by `factor`; after one of more than ten times
/// as much it is divided by `shrink`, but not below the first batch. `noise` sets the effective batch to `multiplier`
/// times the gradient noise scale every so many steps, by at most a factor of 2 at once. The base of an edited schedule
/// continues without interruption if its text is that of one of `origin.courses`, so `edited:base=SCHEDULE` returns to
/// that schedule; else it begins at the origin. Throws Error (input) naming the invalid part and what is accepted.
std::unique_ptr<BatchSchedule> make_schedule(const std::string& text, const ScheduleOrigin& origin);

/// The first batch that a schedule's text gives (`piecewise:0=16`, `edited:0-50=16,...`); nothing if it can begin with
/// any batch. Throws as make_schedule() does if the text of a piecewise or edited schedule is invalid.
std::optional<std::int64_t> first_batch_of(const std::string& text);

/// See ScheduleKind::depends_on_step_only; false for an unknown schedule.
bool depends_on_step_only(const std::string& text);

/// The forms that make_schedule() accepts, one line each, for help and error messages.
std::vector<std::string> schedule_forms();

} // namespace batchscope::schedule
