#include "core/telemetry/run_clock.h"

#include <algorithm>
#include <cmath>

namespace batchscope::telemetry {

void RunClock::take(const StepRecord& record) {
  if (record.step > step_) {
    evaluated_before_ += evaluated_since_;
    evaluated_since_ = 0;
  }
  step_ = record.step;
  examples_ = record.examples_seen;
  if (std::isfinite(record.seconds))
    at_step_ = record.seconds;
  seconds_ = std::max(seconds_, at_step_);
}

void RunClock::take(const Event& event) {
  if (std::isfinite(event.seconds))
    seconds_ = std::max(seconds_, event.seconds);
  for (const auto& [name, value] : event.values)
    if (name == evaluation_seconds && std::isfinite(value))
      (event.step < step_ ? evaluated_before_ : evaluated_since_) += value;
}

double RunClock::examples_per_second() const {
  const double training = at_step_ - evaluated_before_;
  return training > 0 ? static_cast<double>(examples_) / training : 0;
}

} // namespace batchscope::telemetry
