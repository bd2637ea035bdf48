#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/telemetry/trace.h"

namespace batchscope::predict {

/// An allocation within a trace.
struct Allocation {
  telemetry::Phase phase = telemetry::Phase::forward;
  std::uint64_t bytes = 0;
};

/// Whether a block is one number for each pair of examples: its size grows as the square of the batch.
bool grows_as_square(std::uint64_t small, std::uint64_t large, double batch_ratio);

std::vector<Allocation> allocations(const telemetry::Trace& trace);

/// For each allocation of `large`, the index of its counterpart in `small`, or no_counterpart: a longest common
/// subsequence in which two allocations match if they have the same phase and their sizes can be those of one block at
/// the two batch sizes (constant, or growing no faster than the batch, with a little slack for rounding; or growing as
/// its square). `batch_ratio` is large / small. O((n + m) * differences) (Myers 1986). Lists with more than 2,000
/// differences are not matched at all.
inline constexpr std::size_t no_counterpart = SIZE_MAX;
std::vector<std::size_t> align(const std::vector<Allocation>& small, const std::vector<Allocation>& large,
                               double batch_ratio);

} // namespace batchscope::predict
