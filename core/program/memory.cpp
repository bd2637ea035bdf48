#include "core/program/memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace batchscope::program {

namespace {

using Clock = std::chrono::steady_clock;

/// A line `NAME:   123 kB` of a file of a process, in bytes; nothing if the process has ended.
std::optional<std::uint64_t> kilobytes_in(pid_t pid, const char* file, const std::string& name) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, file));
  std::string line;
  while (std::getline(stream, line))
    if (line.starts_with(name))
      return std::strtoull(line.c_str() + name.size(), nullptr, 10) << 10;
  return std::nullopt;
}

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
    const auto pss = kilobytes_in(pid, "smaps_rollup", "Pss:");
    if (!pss)
      continue;
    sum = sum.value_or(0) + *pss;
    // What one process had at its highest, which may have been between two samples.
    if (const auto highest = kilobytes_in(pid, "status", "VmHWM:"))
      peak_ = std::max(peak_.value_or(0), *highest);
  }
  if (!sum)
    return;
  last_ = sum;
  peak_ = std::max(peak_.value_or(0), *sum);
}

} // namespace batchscope::program
