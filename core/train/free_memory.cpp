#include "core/train/detail/free_memory.h"

#include <cmath>

#include "core/memory/detail/devices.h"

namespace batchscope::train {

namespace {

/// Change of the budget, as a fraction: free memory fluctuates all the time.
constexpr double noticeable_change = 0.1;

} // namespace

std::optional<std::uint64_t> FreeMemory::new_budget(const memory::Device& device) {
  const Clock::time_point now = Clock::now();
  if (now - looked_ < interval_)
    return std::nullopt;
  looked_ = now;
  const memory::Readings readings = device.readings();
  const double wanted = memory::default_fraction * static_cast<double>(device.available() + readings.reserved);
  const auto limit = static_cast<double>(readings.limit);
  if (std::abs(wanted - limit) <= noticeable_change * limit || wanted <= static_cast<double>(readings.in_use))
    return std::nullopt;
  return static_cast<std::uint64_t>(wanted);
}

} // namespace batchscope::train
