#include "core/telemetry/run_clock.h"

#include <algorithm>
#include <cmath>

namespace batchscope::telemetry {

void RunClock::take(const StepRecord& record) {
  if (record.step > now_.step) {
    now_.evaluated_before += now_.evaluated_since;
    now_.evaluated_since = 0;
  }
  now_.step = record.step;
  now_.examples = record.examples_seen;
  if (std::isfinite(record.seconds))
    now_.at_step = record.seconds;
  now_.seconds = std::max(now_.seconds, now_.at_step);
  for (const auto& [name, fraction] : record.more)
    if (name == telemetry::disturbed && fraction >= 0 && fraction <= 1) {
      now_.lost += fraction * std::max(0.0, now_.at_step - now_.watched);
      now_.watched = now_.at_step;
    }
}

void RunClock::take(const Event& event) {
  if (std::isfinite(event.seconds))
    now_.seconds = std::max(now_.seconds, event.seconds);
  for (const auto& [name, value] : event.values)
    if (name == evaluation_seconds && std::isfinite(value))
      (event.step < now_.step ? now_.evaluated_before : now_.evaluated_since) += value;
}

std::optional<double> RunClock::disturbed() const {
  return now_.watched > 0 ? std::optional(now_.lost / now_.watched) : std::nullopt;
}

double RunClock::examples_per_second() const {
  const double training = training_seconds();
  return training > 0 ? static_cast<double>(now_.examples) / training : 0;
}

} // namespace batchscope::telemetry
