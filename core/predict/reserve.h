#pragma once

#include <cstdint>
#include <string>

#include "core/telemetry/trace.h"

namespace batchscope::predict {

/// What LibTorch's CUDA caching allocator makes of a sequence of allocations.
struct Reserve {
  bool fits = false;
  std::uint64_t reserved_bytes = 0;  ///< peak; what the device must have
  std::uint64_t allocated_bytes = 0; ///< peak, each block rounded up to 512 bytes
  std::string message;               ///< LibTorch's, if they do not fit

  /// Part of the reserved memory that no block used at the peak, 0..1.
  double fragmentation() const {
    return reserved_bytes > 0 ? 1 - static_cast<double>(allocated_bytes) / static_cast<double>(reserved_bytes) : 0;
  }
};

/// Replays a trace that begins with nothing allocated (DryRun::trace_from_start()) on a device of `capacity` bytes,
/// through the allocator itself and with PYTORCH_ALLOC_CONF as it is set, in a process of its own; no GPU is needed.
/// More than a million events a second. Throws Error: unavailable if this torch was built without CUDA, failed if the
/// process cannot be started or ends early. Any thread.
Reserve reserve(const telemetry::Trace& trace, std::uint64_t capacity);

} // namespace batchscope::predict
