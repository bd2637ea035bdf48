#include "core/train/detail/memory_shortage.h"

#include <algorithm>

namespace batchscope::train {

namespace {

/// Minimum growth, as a fraction of the limit: other programs' use fluctuates all the time.
constexpr double min_growth = 0.02;

} // namespace

void MemoryShortage::begin(const memory::OutOfMemoryInfo& info, const memory::Device& device) {
  of_budget_ = info.requested > info.limit || info.in_use > info.limit - info.requested;
  room_ = room(device);
  begun_ = true;
}

bool MemoryShortage::over(const memory::Device& device) const {
  const double noticeable = min_growth * static_cast<double>(device.readings().limit);
  return begun_ && static_cast<double>(room(device)) > static_cast<double>(room_) + noticeable;
}

/// Bytes available to a step. The machine is asked only if it was the limit: its answer fluctuates, and runs within
/// their budget are bit-identical.
std::uint64_t MemoryShortage::room(const memory::Device& device) const {
  const memory::Readings now = device.readings();
  if (of_budget_)
    return now.limit - std::min(now.limit, now.in_use);
  return device.available() + now.reserved - now.in_use;
}

} // namespace batchscope::train
