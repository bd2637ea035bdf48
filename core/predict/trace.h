#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::predict {

/// What memory is used for; the parts of the stacked bar.
enum class Use : std::uint8_t { parameters, gradients, optimizer, activations, workspace, batch };
inline constexpr int use_count = 6;

/// One thing that an allocator did. Sizes in bytes as the allocator counts them.
struct TraceEvent {
  std::uint32_t block = 0; ///< number of the block within the trace, by order of allocation
  bool allocates = true;   ///< false: the block is freed
  std::uint8_t phase = 0;  ///< of the step: see Phase
  std::uint64_t bytes = 0; ///< allocations and frees alike
};

enum class Phase : std::uint8_t { setup, batch, forward, backward, optimizer, evaluation };

/// The allocator's doings over one whole optimizer step at one batch size.
struct Trace {
  std::int64_t batch = 0;
  std::uint64_t start_bytes = 0; ///< in use before the first event
  std::uint64_t parameter_bytes = 0;
  std::uint64_t optimizer_bytes = 0;
  std::vector<TraceEvent> events; ///< frees of blocks from before the trace have block = UINT32_MAX
  std::uint64_t peak_bytes = 0;   ///< highest in use that was really seen
};

} // namespace batchscope::predict
