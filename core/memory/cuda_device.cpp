// The only file that includes CUDA's headers. No CUDA library is linked: LibTorch's CUDA library is loaded when a GPU
// is requested, so the program also runs on machines without CUDA.
#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/devices.h"
#include "core/memory/detail/nvml.h"

namespace batchscope::memory {

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

Error gpu_missing(int index, const std::string& why) {
  return {Error::Kind::unavailable, "--device cuda:" + std::to_string(index) + ": " + why};
}

/// Loads LibTorch's CUDA library before LibTorch is asked anything about CUDA: an earlier query would disable CUDA
/// permanently.
void load_libraries(int index) {
  // cuBLAS is deterministic only with such a workspace; it reads the variable when it starts.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw gpu_missing(index, std::string("LibTorch's CUDA libraries cannot be loaded: ") + dlerror() +
                                 " ('BATCHSCOPE_GPU=yes make setup' installs it)");
}

caching::CUDAAllocator& allocator(int index) {
  // The variable behind c10::cuda::CUDACachingAllocator::get(), which is not linked.
  auto* variable = static_cast<std::atomic<caching::CUDAAllocator*>*>(
      dlsym(RTLD_DEFAULT, "_ZN3c104cuda20CUDACachingAllocator9allocatorE"));
  if (variable == nullptr || variable->load() == nullptr)
    throw gpu_missing(index, "LibTorch's CUDA allocator was not found in the loaded library");
  return *variable->load();
}

std::string pci_bus_id(int index) {
  using GetBusId = int (*)(char*, int, int);
  const auto get = reinterpret_cast<GetBusId>(dlsym(RTLD_DEFAULT, "cudaDeviceGetPCIBusId"));
  char text[32] = "";
  if (get == nullptr || get(text, sizeof text, index) != 0)
    return {};
  return text;
}

/// Converts the allocator's callbacks to a Trace. LibTorch cannot detach a callback, so the process has one recorder.
/// It is called with the allocator's lock held and must not allocate on the device.
class TraceRecorder {
public:
  static TraceRecorder& instance(caching::CUDAAllocator& allocator) {
    static TraceRecorder* recorder = [&allocator] {
      auto* made = new TraceRecorder;
      allocator.attachAllocatorTraceTracker([made](const caching::TraceEntry& entry) { made->note(entry); });
      return made;
    }();
    return *recorder;
  }

  void enter(telemetry::Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
  telemetry::Phase phase() const { return phase_.load(std::memory_order_relaxed); }

  void start(std::uint64_t in_use) {
    std::lock_guard lock(mutex_);
    trace_ = {};
    trace_.granularity = 512; // the caching allocator's smallest block
    trace_.start_bytes = in_use;
    blocks_.clear();
    block_count_ = 0;
    active_ = true;
  }
  std::uint64_t refused_bytes() {
    std::lock_guard lock(mutex_);
    return refused_bytes_;
  }
  telemetry::Trace stop(std::uint64_t peak) {
    std::lock_guard lock(mutex_);
    active_ = false;
    trace_.peak_bytes = peak;
    return std::move(trace_);
  }

private:
  void note(const caching::TraceEntry& entry) {
    using Action = caching::TraceEntry::Action;
    std::lock_guard lock(mutex_);
    if (entry.action_ == Action::OOM)
      refused_bytes_ = entry.size_;
    if (!active_)
      return;
    if (entry.action_ == Action::ALLOC) {
      blocks_[entry.addr_] = block_count_;
      trace_.events.push_back({block_count_++, true, phase(), entry.size_});
    } else if (entry.action_ == Action::FREE_COMPLETED) {
      const auto found = blocks_.find(entry.addr_);
      const std::uint32_t block = found == blocks_.end() ? telemetry::block_from_before : found->second;
      trace_.events.push_back({block, false, phase(), entry.size_});
      if (found != blocks_.end())
        blocks_.erase(found);
    }
  }
  std::mutex mutex_;
  bool active_ = false;
  telemetry::Trace trace_;
  std::map<std::size_t, std::uint32_t> blocks_; ///< indices of live blocks by address
  std::uint32_t block_count_ = 0;
  std::uint64_t refused_bytes_ = 0; ///< size of the last refused request
  std::atomic<telemetry::Phase> phase_{telemetry::Phase::setup};
};

class CudaDevice final : public Device {
public:
  CudaDevice(int index, std::optional<std::uint64_t> budget)
      : index_(index), allocator_(allocator(index)), recorder_(TraceRecorder::instance(allocator_)),
        nvml_(pci_bus_id(index)) {
    const auto [free, total] = allocator_.getMemoryInfo(device());
    allocator_.emptyCache();
    set_limit(budget.value_or(static_cast<std::uint64_t>(default_fraction * static_cast<double>(free))), total);
    allocator_.resetPeakStats(device());
    ooms_before_ = allocator_.getDeviceStats(device()).num_ooms;
  }
  ~CudaDevice() override {
    try {
      allocator_.setMemoryFraction(1.0, device());
    } catch (const std::exception&) {
      // A device in an error state fails here, too; the cause was reported already.
    }
  }

  std::string name() const override { return "cuda:" + std::to_string(index_); }
  DeviceKind kind() const override { return DeviceKind::cuda; }
  int index() const override { return index_; }
  std::string product() const override { return nvml_.product(); }
  std::string driver() const override { return nvml_.driver(); }

  Readings readings() const override {
    const auto stats = allocator_.getDeviceStats(device());
    const auto bytes = [](const auto& stat) { return static_cast<std::uint64_t>(stat[0].current); };
    return {bytes(stats.allocated_bytes),
            bytes(stats.reserved_bytes),
            static_cast<std::uint64_t>(stats.allocated_bytes[0].peak),
            limit_,
            static_cast<std::uint64_t>(stats.num_ooms - ooms_before_),
            nvml_.used_bytes()};
  }
  void set_budget(std::uint64_t bytes) override {
    set_limit(bytes, allocator_.getMemoryInfo(device()).second);
    release_cache(); // or blocks cached before would stay above the budget
  }
  void reset_peak() override { allocator_.resetPeakStats(device()); }
  std::uint64_t available() const override { return allocator_.getMemoryInfo(device()).first; }
  void release_cache() override {
    synchronize();
    allocator_.emptyCache();
  }
  void synchronize() override { c10::impl::VirtualGuardImpl(c10::kCUDA).synchronizeDevice(device()); }
  void enter(telemetry::Phase phase) override { recorder_.enter(phase); }
  void retag(const void*, telemetry::Use) override {}

  std::optional<OutOfMemoryInfo> take_last_oom() override {
    const Readings now = readings();
    if (now.refused == refused_seen_)
      return std::nullopt;
    refused_seen_ = now.refused;
    OutOfMemoryInfo info;
    info.requested = recorder_.refused_bytes();
    info.in_use = now.peak; // the step has been unwound; its peak is what was in use when the request was refused
    info.reserved = now.reserved;
    info.limit = limit_;
    info.phase = recorder_.phase();
    return info;
  }
  bool start_trace() override {
    synchronize();
    reset_peak();
    recorder_.start(readings().in_use);
    return true;
  }
  telemetry::Trace stop_trace() override {
    synchronize();
    return recorder_.stop(readings().peak);
  }

private:
  void set_limit(std::uint64_t bytes, std::size_t total) {
    if (bytes > total)
      throw input_error("--memory-budget: " + format_bytes(bytes) + " is more than the " + format_bytes(total) +
                            " that cuda:" + std::to_string(index_) + " has",
                        "memory_budget");
    limit_ = bytes;
    allocator_.setMemoryFraction(static_cast<double>(limit_) / static_cast<double>(total), device());
  }
  c10::DeviceIndex device() const { return static_cast<c10::DeviceIndex>(index_); }

  int index_;
  caching::CUDAAllocator& allocator_;
  TraceRecorder& recorder_;
  Nvml nvml_;
  std::uint64_t limit_ = 0;
  std::int64_t ooms_before_ = 0;
  std::uint64_t refused_seen_ = 0;
};

} // namespace

std::unique_ptr<Device> make_cuda_device(int index, std::optional<std::uint64_t> budget) {
  return std::make_unique<CudaDevice>(index, budget);
}

std::unique_ptr<Device> open_cuda(int index, std::optional<std::uint64_t> budget) {
  load_libraries(index);
  try {
    if (!at::hasCUDA())
      throw gpu_missing(index, "no CUDA device was found (is the NVIDIA driver loaded?)");
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    const int count = c10::impl::VirtualGuardImpl(c10::kCUDA).deviceCount();
    if (index >= count)
      throw gpu_missing(index, "available: cuda:0 to cuda:" + std::to_string(count - 1));
    return make_cuda_device(index, budget);
  } catch (const c10::Error& error) {
    throw gpu_missing(index, error.what_without_backtrace());
  }
}

} // namespace batchscope::memory
