#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::schedule {

/// How long a run is: exactly one of the three is set.
struct RunLength {
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> examples;
  std::optional<std::int64_t> steps;
};

/// What a schedule sees after each optimizer step.
struct ScheduleState {
  std::int64_t step = 0;        ///< steps done, counted already; the first call sees 1
  std::int64_t batch = 0;       ///< nominal batch of the step just done
  std::int64_t epoch_index = 0; ///< 0-based
  std::int64_t examples_seen = 0;
  std::int64_t tokens_seen = 0; ///< 0 where examples have no tokens
  std::int64_t examples = 0;    ///< N, examples in an epoch
  double epoch = 0;             ///< examples_seen / N
  double coverage = 0;          ///< of this epoch, 0..1
  double epochs_passed = 0;     ///< epoch_index + passed share of the epoch; a dropped tail counts as passed
  double progress = 0;          ///< of the whole run, 0..1
  std::int64_t max_batch = 0;   ///< the bound the answer is clamped to
  // Known only during a run; `plan` has none of them.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double loss_ema = std::numeric_limits<double>::quiet_NaN();      ///< smoothed with 0.98; losses that are NaN left out
  double vram_fraction = std::numeric_limits<double>::quiet_NaN(); ///< peak of the step / limit
};

struct ScheduleAnswer {
  std::int64_t batch = 1; ///< asked for, before any clamp; saturated to the range of int64
  std::string problem;    ///< why the schedule could not answer (the batch is kept then); empty when it could
};

struct Course;
struct ScheduleOrigin;

/// Decides the nominal batch after each optimizer step. Deterministic; used by one thread at a time.
class BatchSchedule {
public:
  virtual ~BatchSchedule() = default;
  virtual ScheduleAnswer next(const ScheduleState& state) = 0;
  /// Factor on the learning rate that goes with the stage reached (AdaBatch's decay); 1 for the others.
  virtual double learning_rate_factor(const ScheduleState& state) const;
  /// Whether it looks at loss, memory or tokens, which `plan` does not have.
  virtual bool needs_feedback() const { return false; }
  /// The batch of the very next step where the schedule is put in at `origin` and no other is asked for.
  virtual std::int64_t first_batch(const ScheduleOrigin& origin) const;
  /// Of an edited schedule: what goes on beneath its stretches. Nothing for the others.
  virtual std::optional<Course> base() const;
  /// The text that makes the same schedule again.
  virtual std::string text() const = 0;
};

/// A schedule on its way, and the batch that it has come to.
struct Course {
  std::shared_ptr<BatchSchedule> schedule;
  std::int64_t batch = 1;
};

/// Asks a course's schedule after a step, as if all steps had had the course's batch sizes, and moves the course on.
ScheduleAnswer advance(Course& course, ScheduleState state);

/// Where a schedule begins: step 0 of a run, or the step boundary at which it was edited in.
struct ScheduleOrigin {
  std::int64_t batch = 1;     ///< base
  std::int64_t max_batch = 1; ///< bound of the run: min(--max-batch, N/R)
  ScheduleState state;        ///< at the origin; at the start of a run all zero but `examples`
  bool has_tokens = true;     ///< whether examples have tokens; true where that is not known
  /// Schedules that the run has had, the present one last: the base of an edited one goes on if it is among them.
  std::vector<Course> courses = {};
};

/// Makes a schedule from text: `constant`, `step:interval=5,increment=1`,
/// `linear:max=64[,epochs=|steps=|examples=|tokens=]`, `exponential:max=64,...`, `piecewise:0=16,100=32`,
/// `adabatch:factor=2,every=2[,lr-decay=0.375]`, `formula:EXPRESSION`,
/// `edited:FROM-TO=BATCH,...[,batch=B],base=SCHEDULE`. Intervals, ramps and stages count from the origin; the steps of
/// `piecewise` are those of the run. Without a length a ramp takes what is left of the run; without `lr-decay` the rate
/// has no stages. A formula is tried out on the state of its first call, with loss 1 and vram_fraction 0.5. The base of
/// an edited schedule goes on as if it had never been left where it is the text of one of `origin.courses`, so that
/// `edited:base=SCHEDULE` is the way back to it; else it begins at the origin. Throws Error (input) that names the part
/// that is wrong and what is accepted.
std::unique_ptr<BatchSchedule> make_schedule(const std::string& text, const ScheduleOrigin& origin);

/// The first batch that a schedule names itself (`piecewise:0=16`, `edited:0-50=16,...`); nothing where it may begin
/// with any. Throws as make_schedule does where the text of a piecewise or edited one is wrong.
std::optional<std::int64_t> first_batch_of(const std::string& text);

/// The forms make_schedule accepts, one line each, for help and error messages.
const std::vector<std::string>& schedule_forms();

} // namespace batchscope::schedule
