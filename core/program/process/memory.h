#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/program/process/process_group.h"

namespace batchscope::program {

/// Memory of a program and all that it started, measured from outside: the proportional set size (PSS), which counts
/// pages that processes share once. One thread.
class GroupMemory {
public:
  explicit GroupMemory(ProcessGroup group);

  /// Bytes in use. Measures at most five times a second, and less often if that costs more than 5 % of the time; else
  /// the last value. Nothing before the first measurement that could be made.
  std::optional<std::uint64_t> sample();
  /// Measures now.
  void measure();
  /// The highest of the measurements, and of what the system itself recorded as the highest of one process between
  /// them; nothing before the first.
  std::optional<std::uint64_t> peak() const { return peak_; }

private:
  ProcessGroup group_;
  std::chrono::steady_clock::time_point next_{};
  std::optional<std::uint64_t> last_;
  std::optional<std::uint64_t> peak_;
};

} // namespace batchscope::program
