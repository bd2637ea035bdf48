#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace batchscope::pretended_gpu {

/// Properties of a GPU as LibTorch sees it, as far as its memory depends on them.
struct Gpu {
  std::string name;                ///< `NVIDIA H100 80GB HBM3`
  std::uint64_t memory_bytes = 0;  ///< of each
  int capability = 90;             ///< compute capability: 10 * major + minor
  int multiprocessors = 132;       ///< at least 1
  int count = 1;                   ///< 0: none is seen
  std::uint64_t context_bytes = 0; ///< that each process needs of it beside its tensors
};

/// The value of the environment variable that says what the GPUs of a process are; it is read with their first use.
std::string description(const Gpu& gpu);

/// Whose torch it is: LibTorch's in C++ looks for all libraries of CUDA, which may be missing here; a Python brings
/// them.
enum class Torch { engine, python };

/// Environment variables with which a process sees these GPUs, and no others. LibTorch's CUDA part then runs as on a
/// card: its allocator, autograd, choice of kernels and errors are real, but kernels do nothing, so that all numbers
/// are zeros or garbage and no time means anything. Large copies to a GPU are dropped; memory of a GPU takes memory of
/// the host only where something is written. Throws Error (unavailable) if this BatchScope was built with a torch that
/// has no CUDA part. Any thread.
std::vector<std::pair<std::string, std::string>> environment(const Gpu& gpu, Torch torch = Torch::engine);

} // namespace batchscope::pretended_gpu
