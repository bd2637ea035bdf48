#include "core/train/detail/oom_cause.h"

#include <algorithm>

namespace batchscope::train {

namespace {

/// Growth of the baseline by this fraction of the limit is called a leak; the same fraction applies to other processes'
/// growth.
constexpr double noticeable_share = 0.02;

bool grew(std::uint64_t before, std::uint64_t now, std::uint64_t limit) {
  return now > before && static_cast<double>(now - before) > noticeable_share * static_cast<double>(limit);
}

/// Whether there was room for the request, only not in one piece: within the limit, and on the device.
bool had_room(const memory::OutOfMemoryInfo& info) {
  return info.available && info.in_use + info.requested <= std::min(info.limit, info.reserved + *info.available);
}

} // namespace

telemetry::OutOfMemory::Cause likely_cause(const OutOfMemory& event, const BeforeOutOfMemory& before) {
  using Cause = telemetry::OutOfMemory::Cause;
  if (event.growing_back)
    return Cause::growing_back;
  if (had_room(event.info))
    return Cause::fragmentation;
  if (before.largest_nominal == 0)
    return Cause::first_batch;
  if (event.nominal > before.largest_nominal)
    return Cause::schedule;
  if (event.length > before.longest)
    return Cause::longer_example;
  const std::uint64_t limit = event.info.limit;
  if (limit < before.limit)
    return Cause::lowered_budget;
  if (grew(before.first_baseline, before.baseline, limit))
    return Cause::growth;
  if (grew(before.others_first, before.others, limit))
    return Cause::other_process;
  return Cause::unknown;
}

} // namespace batchscope::train
