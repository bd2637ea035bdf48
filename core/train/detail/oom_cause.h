#pragma once

#include <cstdint>
#include <string>

#include "core/telemetry/events.h"
#include "core/train/detail/stepper.h"

namespace batchscope::train {

/// The state of a run before an out-of-memory error, from which its likely cause is derived.
struct BeforeOutOfMemory {
  std::int64_t largest_nominal = 0; ///< largest nominal batch that has run; 0 before the first step
  std::uint64_t limit = 0;          ///< bytes; in which a batch of that size has last run
  std::int64_t longest = 0;         ///< longest example so far; 0 before the first step
  std::uint64_t first_baseline = 0; ///< bytes in use after the first step
  std::uint64_t baseline = 0;       ///< bytes in use before this step
  /// Bytes that other processes use on the device, after the first step and now; 0 if unknown.
  std::uint64_t others_first = 0, others = 0;
};

/// The likeliest cause, checked in this order: --grow-back, fragmentation (there was room, but not in one piece), a
/// batch larger than any before (the schedule asked for it, or it is the first), an example longer than any before,
/// a lower budget than that in which the batch has run, growth from step to step (a leak), another process.
telemetry::OutOfMemory::Cause likely_cause(const OutOfMemory& event, const BeforeOutOfMemory& before);

} // namespace batchscope::train
