// With cuda_library.cpp, the only file that includes CUDA's headers. No CUDA library is linked: LibTorch's CUDA library
// is loaded when a GPU is requested, so the program also runs on machines without CUDA.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/cuda_library.h"
#include "core/memory/detail/devices.h"
#include "core/memory/detail/nvml.h"
#include "core/memory/detail/torch_errors.h"

namespace batchscope::memory {

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

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
      allocator.attachOutOfMemoryObserver(
          [made, &allocator](std::int64_t index, std::size_t requested, std::size_t, std::size_t free) {
            made->refused(requested, free, allocator.getDeviceStats(static_cast<c10::DeviceIndex>(index)));
          });
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
  /// State of the device at the last request that was refused.
  OutOfMemoryInfo last_refusal() {
    std::lock_guard lock(mutex_);
    return last_refusal_;
  }
  telemetry::Trace stop(std::uint64_t peak) {
    std::lock_guard lock(mutex_);
    active_ = false;
    trace_.peak_bytes = peak;
    return std::move(trace_);
  }

private:
  /// Called before the exception is thrown, so that nothing of the step has been freed; without the allocator's lock.
  void refused(std::uint64_t requested, std::uint64_t free, const c10::CachingDeviceAllocator::DeviceStats& stats) {
    std::lock_guard lock(mutex_);
    last_refusal_ = {};
    last_refusal_.requested = requested;
    last_refusal_.in_use = static_cast<std::uint64_t>(stats.allocated_bytes[0].current);
    last_refusal_.reserved = static_cast<std::uint64_t>(stats.reserved_bytes[0].current);
    last_refusal_.available = free;
    last_refusal_.phase = phase();
  }
  void note(const caching::TraceEntry& entry) {
    using Action = caching::TraceEntry::Action;
    std::lock_guard lock(mutex_);
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
  OutOfMemoryInfo last_refusal_;
  std::atomic<telemetry::Phase> phase_{telemetry::Phase::setup};
};

class CudaDevice final : public Device {
public:
  CudaDevice(int index, std::optional<std::uint64_t> budget)
      : index_(index), allocator_(allocator(index)), recorder_(TraceRecorder::instance(allocator_)),
        nvml_(pci_bus_id(index)) {
    allocator_.emptyCache();
    const std::size_t free = allocator_.getMemoryInfo(device()).first;
    set_limit(budget.value_or(static_cast<std::uint64_t>(default_fraction * static_cast<double>(free))));
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
            device_wide(),
            static_cast<std::uint64_t>(stats.reserved_bytes[0].peak)};
  }
  void set_budget(std::uint64_t bytes) override {
    set_limit(bytes);
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
    OutOfMemoryInfo info = recorder_.last_refusal();
    info.limit = limit_;
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
  /// A limit may be lowered at any time. Above it, others' memory is not promised.
  void set_limit(std::uint64_t bytes) {
    const auto [free, total] = allocator_.getMemoryInfo(device());
    const auto own = static_cast<std::uint64_t>(allocator_.getDeviceStats(device()).reserved_bytes[0].current);
    if (bytes > total)
      throw input_error("--memory-budget: " + format_bytes(bytes) + " is more than the " + format_bytes(total) +
                            " that " + name() + " has",
                        "memory_budget");
    if (bytes > limit_ && bytes > free + own)
      throw input_error("--memory-budget: " + format_bytes(bytes) + " is more than the " + format_bytes(free + own) +
                            " that is free on " + name() + " now (of " + format_bytes(total) + ")",
                        "memory_budget");
    limit_ = bytes;
    allocator_.setMemoryFraction(static_cast<double>(limit_) / static_cast<double>(total), device());
  }
  /// Memory of the card, or of its MIG slice, that all processes use; asked at most five times a second.
  std::uint64_t device_wide() const {
    constexpr std::chrono::milliseconds often{200};
    const std::lock_guard lock(asked_mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now >= ask_again_) {
      const auto [free, total] = allocator_.getMemoryInfo(device());
      device_wide_ = total - free;
      ask_again_ = now + often;
    }
    return device_wide_;
  }
  c10::DeviceIndex device() const { return static_cast<c10::DeviceIndex>(index_); }

  int index_;
  caching::CUDAAllocator& allocator_;
  TraceRecorder& recorder_;
  Nvml nvml_;
  std::uint64_t limit_ = 0;
  std::int64_t ooms_before_ = 0;
  std::uint64_t refused_seen_ = 0;
  mutable std::mutex asked_mutex_; // of the next two
  mutable std::uint64_t device_wide_ = 0;
  mutable std::chrono::steady_clock::time_point ask_again_{};
};

} // namespace

namespace {

/// The first product makes cuBLAS's handle and loads its kernels, which take memory of the card: before it is looked
/// how much is free.
void make_handles(int index) {
  const auto on = at::TensorOptions().device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  const at::Tensor one = at::zeros({1, 1}, on);
  at::mm(one, one);
  caching::CUDAAllocator& used = allocator(index);
  if (used.name() == "native" &&
      used.getDeviceStats(static_cast<c10::DeviceIndex>(index)).allocated_bytes[0].current == 0)
    throw gpu_missing(index, "LibTorch does not count its memory: unset PYTORCH_NO_CUDA_MEMORY_CACHING");
}

} // namespace

std::unique_ptr<Device> open_cuda(int index, std::optional<std::uint64_t> budget) {
  require_cuda(index);
  try {
    make_handles(index);
    return std::make_unique<CudaDevice>(index, budget);
  } catch (const c10::Error& error) {
    Error failed = failure(error);
    if (failed.kind() == Error::Kind::device_lost)
      throw failed;
    throw gpu_missing(index, failed.what());
  }
}

} // namespace batchscope::memory
