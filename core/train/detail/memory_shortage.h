#pragma once

#include <cstdint>

#include "core/memory/device.h"

namespace batchscope::train {

/// Detects the end of a memory shortage: the budget has grown, less is in use between steps, or, if the machine and not
/// the budget was the limit, the device has more free memory. One thread.
class MemoryShortage {
public:
  /// Call it after an out-of-memory error, once the bytes in use are back at their level between steps.
  void begin(const memory::OutOfMemoryInfo& info, const memory::Device& device);
  /// Whether clearly more memory is available than at begin(); false before begin().
  bool over(const memory::Device& device) const;

  /// For checkpoints (core/base/json_fields.h).
  template <typename Io> friend void fields(Io& io, typename Io::template Of<MemoryShortage>& shortage) {
    io("begun", shortage.begun_);
    io("of_budget", shortage.of_budget_);
    io("room", shortage.room_);
  }

private:
  std::uint64_t room(const memory::Device& device) const;

  bool begun_ = false;
  bool of_budget_ = true; ///< whether the budget, not the machine, was the limit
  std::uint64_t room_ = 0;
};

} // namespace batchscope::train
