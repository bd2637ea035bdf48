#pragma once

#include <cstdint>

#include "core/base/json.h"
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

  /// For checkpoints; reading throws Json::exception for JSON of another form.
  Json to_json() const;
  static MemoryShortage from_json(const Json& json);

private:
  std::uint64_t room(const memory::Device& device) const;

  bool begun_ = false;
  bool of_budget_ = true; ///< whether the budget, not the machine, was the limit
  std::uint64_t room_ = 0;
};

} // namespace batchscope::train
