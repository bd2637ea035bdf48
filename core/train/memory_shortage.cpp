#include "core/train/detail/memory_shortage.h"

#include <algorithm>

namespace batchscope::train {

namespace {

/// Room must grow by this share of the limit to count: other programs' use goes up and down all the time.
constexpr double least_growth = 0.02;

} // namespace

void MemoryShortage::begin(const memory::OutOfMemoryInfo& refusal, const memory::Device& device) {
  of_budget_ = refusal.requested > refusal.limit || refusal.in_use > refusal.limit - refusal.requested;
  room_ = room(device);
  begun_ = true;
}

bool MemoryShortage::over(const memory::Device& device) const {
  const double noticeable = least_growth * static_cast<double>(device.readings().limit);
  return begun_ && static_cast<double>(room(device)) > static_cast<double>(room_) + noticeable;
}

/// Bytes that a step could have. The machine is asked only where it was the limit: its answer changes from moment to
/// moment, and runs within their budget are the same to the bit.
std::uint64_t MemoryShortage::room(const memory::Device& device) const {
  const memory::Readings now = device.readings();
  if (of_budget_)
    return now.limit - std::min(now.limit, now.in_use);
  return device.available() + now.reserved - now.in_use;
}

} // namespace batchscope::train
