#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/memory/device.h"

namespace batchscope::train {

/// The default budget of a run while it goes on: the same share as at its start of the memory that the run holds or
/// that is free, whatever other programs do. One thread.
class FreeMemory {
public:
  /// `interval`: between two looks at the system, which takes some microseconds, on a GPU more.
  explicit FreeMemory(std::chrono::milliseconds interval) : interval_(interval) {}

  /// The budget that the device should have; nothing if it is about right (within 10 %), if it has just been looked at,
  /// or if it would not hold what is in use.
  std::optional<std::uint64_t> new_budget(const memory::Device& device);

private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds interval_;
  Clock::time_point looked_ = Clock::now();
};

} // namespace batchscope::train
