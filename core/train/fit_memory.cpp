#include "core/train/detail/fit_memory.h"

#include <algorithm>

namespace batchscope::train {

void FitMemory::out_of_memory(std::int64_t count, std::int64_t length) {
  std::erase_if(failed_, [&](const Size& size) { return size.count >= count && size.length >= length; });
  if (!known_not_to_fit(count, length))
    failed_.push_back({count, length});
}

bool FitMemory::known_not_to_fit(std::int64_t count, std::int64_t length) const {
  return std::any_of(failed_.begin(), failed_.end(),
                     [&](const Size& size) { return count >= size.count && length >= size.length; });
}

std::int64_t FitMemory::parts(std::int64_t count, std::int64_t length) const {
  std::int64_t smallest_failed = count + 1;
  for (const Size& size : failed_) {
    if (length >= size.length)
      smallest_failed = std::min(smallest_failed, size.count);
  }
  const std::int64_t largest_part = std::max<std::int64_t>(smallest_failed - 1, 1);
  return (count + largest_part - 1) / largest_part;
}

} // namespace batchscope::train
