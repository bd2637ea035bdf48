#include "core/program/process/memory.h"

#include <algorithm>
#include <string>

#include "core/base/process_file.h"

namespace batchscope::program {

namespace {

using Clock = std::chrono::steady_clock;

} // namespace

GroupMemory::GroupMemory(ProcessGroup group) : group_(std::move(group)) {}

std::optional<std::uint64_t> GroupMemory::sample() {
  const auto start = Clock::now();
  if (start < next_)
    return last_;
  measure();
  constexpr int share_of_time = 20;
  constexpr std::chrono::milliseconds shortest{200};
  const auto end = Clock::now();
  next_ = end + std::max<Clock::duration>(shortest, share_of_time * (end - start));
  return last_;
}

void GroupMemory::measure() {
  std::optional<std::uint64_t> sum;
  for (const pid_t pid : group_.members()) {
    const auto pss = process_bytes(std::to_string(pid), "smaps_rollup", "Pss:");
    if (!pss)
      continue;
    sum = sum.value_or(0) + *pss;
    // The highest memory of one process, which may have been between two samples.
    if (const auto highest = process_bytes(std::to_string(pid), "status", "VmHWM:"))
      peak_ = std::max(peak_.value_or(0), *highest);
  }
  if (!sum)
    return;
  last_ = sum;
  peak_ = std::max(peak_.value_or(0), *sum);
}

} // namespace batchscope::program
