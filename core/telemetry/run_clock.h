#pragma once

#include <cstdint>
#include <optional>

#include "core/telemetry/record.h"

namespace batchscope::telemetry {

/// Computes `seconds` and `examples_per_second` of a run from what it reports, while it runs and at its end. The loop,
/// the store, the window and the command line all use it, so they agree. One thread at a time.
class RunClock {
public:
  /// All that it has counted so far, to go on from later. In seconds, if nothing else is said.
  struct State {
    double seconds = 0;
    std::int64_t step = 0; ///< of the newest record, as are the two below
    std::int64_t examples = 0;
    double at_step = 0;
    double evaluated_before = 0; ///< seconds of the evaluations before the newest record
    double evaluated_since = 0;  ///< and of those after it
    double watched = 0;          ///< until when it is known what other work took
    double lost = 0;             ///< that it took until then
  };

  RunClock() = default;
  explicit RunClock(const State& state) : now_(state) {}
  const State& state() const { return now_; }

  void take(const StepRecord& record);
  /// May be called before or after the records of later steps.
  void take(const Event& event);

  /// Seconds since the run's start, without pauses, with evaluations: the time of the newest record or event.
  double seconds() const { return now_.seconds; }
  /// Seconds until the newest record, without pauses and evaluations.
  double training_seconds() const { return now_.at_step - now_.evaluated_before; }
  /// Examples per second of training time. 0 before the first step, and if the examples are not known.
  double examples_per_second() const;
  /// Fraction of the time that other work took, as far as it is known; nothing if it is not.
  std::optional<double> disturbed() const;

private:
  State now_;
};

/// Values of the step that ends a window of at least half a second (ProcessorWindows): the fraction of the window that
/// other work took, see ProcessorShare; the time that the threads of the training ran in it, and that they were ready
/// but did not run, in seconds.
inline constexpr const char* disturbed = "disturbed";
inline constexpr const char* ran_seconds = "ran_seconds";
inline constexpr const char* waited_seconds = "waited_seconds";
/// Name of the value of an `evaluation` event that holds its duration in seconds.
inline constexpr const char* evaluation_seconds = "evaluation_seconds";
/// The gradient noise scale in examples, smoothed, at the steps at which it was measured.
inline constexpr const char* noise_scale = "noise_scale";

} // namespace batchscope::telemetry
