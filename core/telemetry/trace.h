#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::telemetry {

/// Purpose of an allocation.
enum class Use : std::uint8_t { parameters, gradients, optimizer, activations, workspace, batch };
inline constexpr int use_count = 6;
/// Lower-case name, as in JSON.
const char* to_string(Use use);

/// Series of the bytes that this use has at the peak of a step: `peak_activations_bytes`. It has a value where a use is
/// not as large as in the step before.
std::string peak_series(Use use);
/// Whether a series is one of those.
bool is_peak_series(const std::string& name);

/// Phase of a step; recorded with each allocation.
enum class Phase : std::uint8_t { setup, optimizer_state, batch, forward, backward, update, evaluation };
const char* to_string(Phase phase);

/// Block number of a free whose block was allocated before the trace.
inline constexpr std::uint32_t block_from_before = UINT32_MAX;

/// One allocation or free.
struct TraceEvent {
  std::uint32_t block = 0; ///< number within the trace, in order of allocation; or block_from_before
  bool allocates = true;   ///< false: the block is freed
  Phase phase = Phase::forward;
  std::uint64_t bytes = 0; ///< requested (allocations), or counted (frees of blocks from before the trace)
};

/// The allocations and frees of one whole optimizer step at one batch size.
struct Trace {
  std::int64_t batch = 0;
  std::uint64_t granularity = 64;                        ///< sizes are counted rounded up to multiples of this
  std::uint64_t start_bytes = 0;                         ///< in use before the first event
  std::array<std::uint64_t, use_count> start_bytes_by{}; ///< start_bytes by use
  std::vector<TraceEvent> events;
  std::uint64_t peak_bytes = 0; ///< highest measured bytes in use
};

} // namespace batchscope::telemetry
