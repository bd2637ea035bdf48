#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace batchscope::telemetry {

/// What memory is used for; the parts of the stacked bar.
enum class Use : std::uint8_t { parameters, gradients, optimizer, activations, workspace, batch };
inline constexpr int use_count = 6;
/// Lower-case name, as in JSON.
const char* to_string(Use use);

/// Where a step is; allocations carry it.
enum class Phase : std::uint8_t { setup, optimizer_state, batch, forward, backward, update, evaluation };
const char* to_string(Phase phase);

/// Block number of a free whose allocation lies before the trace.
inline constexpr std::uint32_t block_from_before = UINT32_MAX;

/// One thing that an allocator did.
struct TraceEvent {
  std::uint32_t block = 0; ///< number within the trace, by order of allocation; or block_from_before
  bool allocates = true;   ///< false: the block is freed
  Phase phase = Phase::forward;
  std::uint64_t bytes = 0; ///< asked for (allocations), or counted (frees of blocks from before the trace)
};

/// The allocator's doings over one whole optimizer step at one batch size.
struct Trace {
  std::int64_t batch = 0;
  std::uint64_t granularity = 64;                        ///< the allocator counts sizes rounded up to multiples of this
  std::uint64_t start_bytes = 0;                         ///< in use before the first event
  std::array<std::uint64_t, use_count> start_bytes_by{}; ///< the same by use
  std::vector<TraceEvent> events;
  std::uint64_t peak_bytes = 0; ///< highest in use that was really seen
};

} // namespace batchscope::telemetry
