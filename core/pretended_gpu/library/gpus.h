#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace batchscope::pretended_gpu {

/// Properties of the GPUs of this process, from the environment variable of core/pretended_gpu/rig.h. All are alike.
struct Description {
  std::string name = "NVIDIA H100 80GB HBM3";
  std::size_t memory = std::size_t{80} << 30; ///< bytes
  int capability = 90;                        ///< 10 * major + minor
  int multiprocessors = 132;
  int count = 1;
  int driver = 13020;         ///< the newest CUDA that its driver knows: 1000 * major + 10 * minor
  std::size_t context = 0;    ///< bytes that each process needs on a GPU that it uses
  std::size_t handle = 0;     ///< bytes of a handle of cuBLAS
  std::size_t workspace = 0;  ///< bytes that each plan of cuDNN asks for
  std::size_t kept_copy = 64; ///< KiB: larger copies from the host to a GPU are dropped
};

/// Numbers of calls to one GPU, or to all.
struct Counts {
  std::uint64_t launches = 0;
  std::uint64_t device_waits = 0, stream_waits = 0, event_waits = 0;
  std::uint64_t copies_to_host = 0, copies_to_device = 0;
  std::uint64_t memory_queries = 0;
};

/// The pretended GPUs of this process: their memory is address space that is counted against a capacity, and takes real
/// memory only where something is written. Any thread.
class Gpus {
public:
  /// As a driver, it belongs to the process. Never destroyed: what uses it may end later.
  static Gpus& instance();

  const Description& description() const { return description_; }
  bool has(int device) const { return device >= 0 && device < description_.count; }

  /// Zeros; null if they do not fit. Counted in units of `granularity`, as a driver does.
  void* allocate(int device, std::size_t bytes);
  /// False if nothing begins there.
  bool free(void* data);
  /// Counts bytes that are not mapped, or no longer; false if they do not fit. `others`: for another process.
  bool take(int device, std::size_t bytes, bool others = false);
  void give_back(int device, std::size_t bytes);
  /// Notes memory that take() has counted, or forgets it.
  void map(void* data, std::size_t bytes, int device);
  void unmap(void* data);
  std::size_t free_bytes(int device);
  /// The GPU on which this address lies, or -1.
  int device_of(const void* data);

  /// An error after which each call on any GPU of this process fails; 0: none.
  int broken();
  void breaks(int error);

  Counts counts();
  template <typename Change> void count(Change change) {
    const std::lock_guard lock(mutex_);
    change(counts_);
  }

  static constexpr std::size_t granularity = std::size_t{2} << 20; ///< bytes

private:
  struct Gpu {
    std::size_t used = 0;     ///< bytes
    bool has_context = false; ///< of this process
  };
  struct Block {
    std::size_t bytes;
    int device;
  };

  Gpus();
  bool take_locked(Gpu& gpu, std::size_t bytes, bool others);
  Gpu& gpu(int device) { return gpus_[static_cast<std::size_t>(device)]; }
  std::map<void*, Block>::iterator holding(const void* data);

  const Description description_;
  std::mutex mutex_; // of all that follows
  std::vector<Gpu> gpus_;
  std::map<void*, Block> blocks_;
  Counts counts_;
  int broken_ = 0;
};

/// Rounded up to whole units of the driver's memory.
constexpr std::size_t in_units(std::size_t bytes) {
  return (bytes + Gpus::granularity - 1) / Gpus::granularity * Gpus::granularity;
}

} // namespace batchscope::pretended_gpu

// For tests, found by dlsym() in a process that has the library.
extern "C" {
void batchscope_pretended_counts(batchscope::pretended_gpu::Counts* counts);
/// Memory that another process takes, or gives back, in bytes. False if there is not as much.
bool batchscope_pretended_others(int device, std::int64_t bytes);
/// From now on, each call fails with this cudaError_t, as after an error in a kernel.
void batchscope_pretended_breaks(int error);
}
