#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/data/sampler.h"
#include "core/schedule/batch_schedule.h"
#include "core/schedule/learning_rate.h"
#include "core/telemetry/events.h"

namespace batchscope::schedule {

struct ProgressionOptions {
  data::SamplerOptions sampler;
  RunLength length;
  std::int64_t batch = 1;                ///< first nominal batch; an error if above N/R
  std::optional<std::int64_t> max_batch; ///< limit of the schedule, besides N/R
  std::string schedule = "constant";
  LearningRateOptions learning_rate;
  std::string shares{};   ///< of the sampler's streams, see ShareSchedule; the sampler's own shares are replaced
  bool has_tokens = true; ///< whether examples have tokens; if not, schedules that count tokens are an error
};

/// One planned optimizer step: `plan` prints it, the window plots it, the training loop runs it.
struct PlannedStep {
  std::int64_t step = 0; ///< 1 for the first
  data::StepTakes takes;
  std::int64_t batch = 0;             ///< nominal
  std::int64_t nominal_effective = 0; ///< b*k*R, or B if an effective batch is set
  double epoch = 0;                   ///< examples seen / N after the step (of the clock, with several streams)
  double train_coverage = 0;          ///< after the step
  double progress = 0;                ///< of the run, at the start of the step
  double learning_rate = 0;
  double gain = 1; ///< of AdaScale; steps that count for a run's length with that rule
};

/// Estimated steps of a whole run if all steps after `step` take as many examples as it does, for plans too long to
/// walk. For a plan of equal steps it is exact to about 1 in 10^15.
double estimated_steps(const ProgressionOptions& options, const PlannedStep& step);

/// The schedule's result was clamped, or it gave none. The same result in consecutive steps is reported once.
struct ScheduleEvent {
  std::int64_t step = 0; ///< steps done when the schedule was evaluated
  std::variant<telemetry::Clamp, telemetry::ScheduleProblem> what;
};

/// As an event of the run.
telemetry::EventBody body_of(const ScheduleEvent& event);

/// Measured values for schedules that use them; NaN if unknown.
struct Feedback {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double vram_fraction = std::numeric_limits<double>::quiet_NaN();
  std::int64_t tokens = 0;             ///< of the step
  std::vector<double> stream_losses{}; ///< of each stream, NaN for one without examples in the step
};

/// Walks the steps of a run: sampler, schedule and learning rate combined. The plan and the training loop use the same
/// code, so they agree. For each step call next(), then done(feedback), which evaluates the schedule once. One thread.
class Progression {
public:
  using EventSink = std::function<void(const ScheduleEvent&)>;

  /// Throws Error (input) for a first batch above N/R or max_batch, an effective batch above N, a bad length or
  /// schedule.
  explicit Progression(const ProgressionOptions& options, EventSink on_event = {});
  ~Progression();
  /// At the same step boundary, to look ahead from; it reports no events.
  Progression(const Progression& other);
  Progression(Progression&&) noexcept;
  Progression& operator=(Progression&&) noexcept;

  /// The next step, or nothing at the end of the run. Calling it again before done() gives the same step.
  std::optional<PlannedStep> next();
  /// Takes a measurement of the gradient noise in the step of the last next(). Returns the smoothed noise scale, in
  /// examples; nothing while it is unknown.
  std::optional<double> add_gradient_norms(const GradientNorms& norms);
  /// Counts the step of the last next() as made and evaluates the schedule.
  void done(const Feedback& feedback = {});

  /// Replaces the schedule at this step boundary; the new one starts from the current batch. The base of an edited
  /// schedule continues if it is one of the run's last eight schedules. With `batch` (within the run's limit) the very
  /// next step uses that batch, even if next() was called for it already. Throws Error (input) and changes nothing if
  /// the text is invalid.
  void edit(const std::string& schedule, std::optional<std::int64_t> batch = std::nullopt);

  /// The next step is made with this batch instead of the planned one, clamped to the run's limit: a program that is
  /// steered from outside has not heard of the plan in time. The schedule goes on from there.
  void make_next_with(std::int64_t batch);

  /// Replaces the shares of the streams at this step boundary; their steps count from the start of the run, and moving
  /// averages of losses go on. The batch is clamped to what the shares allow. Throws Error (input) and changes nothing
  /// for a text that is wrong, for one source, and for an effective batch that no epoch would hold.
  void set_shares(const std::string& shares);
  /// The text of the shares; empty if they are in proportion to the examples, and for one source.
  const std::string& shares_text() const;

  /// The whole state at this step boundary, as JSON; restore() on a progression with the same options then continues
  /// with the same steps. Throws Error (input) and changes nothing for a text that it cannot read.
  std::string state_json() const;
  void restore(const std::string& state_json);

  /// After done(): whether that step ended its epoch (the next step begins another one, or the run is over). Unlike
  /// StepTakes::passed_in_epoch, it accounts for the batch that the schedule has just chosen.
  bool epoch_ended() const;

  /// Steps done, the tokens in them (0 if examples have none), and the nominal batch of the next step.
  std::int64_t steps_done() const;
  std::int64_t tokens_seen() const;
  std::int64_t batch() const;
  /// Whether the steps depend on what is measured: planning cannot tell them.
  bool needs_feedback() const;
  /// Whether the gradient noise scale has to be measured.
  bool needs_noise() const;
  /// See BatchSchedule::needs_length().
  bool needs_length() const;
  const std::string& schedule_text() const;

  /// Number of steps planned by this thread so far, over all progressions; for tests of where plans are computed.
  static std::uint64_t planned_by_this_thread();

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::schedule
