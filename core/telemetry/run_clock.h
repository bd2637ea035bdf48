#pragma once

#include <cstdint>

#include "core/telemetry/record.h"

namespace batchscope::telemetry {

/// What `seconds` and `examples_per_second` of a run mean, at its end as while it goes on: one code for the loop, the
/// store, the window and the command line. Takes what the run reports; one thread at a time.
class RunClock {
public:
  void take(const StepRecord& record);
  /// May come before or after the records of later steps.
  void take(const Event& event);

  /// Since the run's start, pauses left out, evaluations included: the time of the newest record or event.
  double seconds() const { return seconds_; }
  /// Examples seen for each second of training: pauses and evaluations left out. 0 before the first step.
  double examples_per_second() const;

private:
  double seconds_ = 0;
  std::int64_t step_ = 0; ///< of the newest record, as the two below
  std::int64_t examples_ = 0;
  double at_step_ = 0;
  double evaluated_before_ = 0; ///< seconds of the evaluations before the newest record
  double evaluated_since_ = 0;  ///< and of those after it
};

/// The value of an `evaluation` event that says how long it took, in seconds.
inline constexpr const char* evaluation_seconds = "evaluation_seconds";

} // namespace batchscope::telemetry
