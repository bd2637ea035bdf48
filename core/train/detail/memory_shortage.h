#pragma once

#include <cstdint>

#include "core/memory/device.h"

namespace batchscope::train {

/// Tells when memory that was short has come back: the budget has grown, what is held between steps has shrunk, or,
/// where the machine and not the budget was the limit, the device has more free. One thread.
class MemoryShortage {
public:
  /// After an out-of-memory error, with the bytes in use back at what they are between steps.
  void begin(const memory::OutOfMemoryInfo& refusal, const memory::Device& device);
  /// Whether there is noticeably more room now than when it began; false before.
  bool over(const memory::Device& device) const;

private:
  std::uint64_t room(const memory::Device& device) const;

  bool begun_ = false;
  bool of_budget_ = true; ///< the budget refused, not the machine
  std::uint64_t room_ = 0;
};

} // namespace batchscope::train
