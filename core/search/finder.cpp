#include "core/search/finder.h"

#include <algorithm>
#include <cmath>

namespace batchscope::search {

Probe SimulatedDevice::run(const Proposal& proposal) {
  Probe probe;
  probe.batch = proposal.batch;
  probe.outcome = proposal.batch <= capacity_ ? Outcome::fits : Outcome::out_of_memory;
  probe.predicted_bytes = proposal.predicted_bytes;
  return probe;
}

std::optional<std::int64_t> knee(const std::vector<Timing>& timings, double tolerance) {
  double best = 0;
  double may_be_best = 0;
  for (const Timing& timing : timings)
    if (std::isfinite(timing.examples_per_second)) {
      best = std::max(best, timing.examples_per_second);
      may_be_best = std::max(may_be_best, timing.examples_per_second * (1 + timing.uncertainty / 2));
    }
  std::optional<std::int64_t> smallest;
  for (const Timing& timing : timings) {
    const double rate = timing.examples_per_second;
    const bool good = std::isfinite(rate) && rate > 0 && rate * (1 - timing.uncertainty) >= (1 - tolerance) * best &&
                      rate >= (1 - tolerance) * may_be_best;
    if (good && (!smallest || timing.batch < *smallest))
      smallest = timing.batch;
  }
  return smallest;
}

std::int64_t safe_without_memory(std::int64_t largest, double margin) {
  // The small factor keeps 100 with a margin of 0.9 at 10: neither 0.9 nor 0.1 has an exact binary form.
  const double size = static_cast<double>(largest) * (1 - margin) * (1 + 1e-12);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(size), 1, std::max<std::int64_t>(largest, 1));
}

} // namespace batchscope::search
