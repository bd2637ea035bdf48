#include <ATen/Parallel.h>

#include "core/base/host.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/devices.h"

namespace batchscope::memory {

namespace {

class CpuDevice final : public Device {
public:
  explicit CpuDevice(std::uint64_t budget) : allocator_(BudgetAllocator::instance()) {
    allocator_.release_cache();
    allocator_.set_limit(budget);
    allocator_.reset_peak();
  }
  ~CpuDevice() override {
    allocator_.set_limit(UINT64_MAX);
    allocator_.release_cache();
  }

  std::string name() const override { return "cpu"; }
  DeviceKind kind() const override { return DeviceKind::cpu; }
  int index() const override { return 0; }
  std::string product() const override { return processor_name(); }
  Readings readings() const override { return allocator_.readings(); }
  void set_budget(std::uint64_t bytes) override { allocator_.set_limit(bytes); }
  void reset_peak() override { allocator_.reset_peak(); }
  std::uint64_t available() const override { return free_host_memory(); }
  void release_cache() override { allocator_.release_cache(); }
  void synchronize() override {}
  void enter(telemetry::Phase phase) override { allocator_.enter(phase); }
  void retag(const void* data, telemetry::Use use) override { allocator_.retag(data, use); }
  std::optional<OutOfMemoryInfo> take_last_oom() override { return allocator_.take_last_oom(); }
  bool start_trace() override {
    allocator_.start_trace();
    return true;
  }
  telemetry::Trace stop_trace() override { return allocator_.stop_trace(); }

private:
  BudgetAllocator& allocator_;
};

} // namespace

std::unique_ptr<Device> open_cpu(std::optional<std::uint64_t> budget) {
  BudgetAllocator::instance().release_cache();
  if (!budget)
    budget = static_cast<std::uint64_t>(default_fraction * static_cast<double>(free_host_memory()));
  return std::make_unique<CpuDevice>(*budget);
}

} // namespace batchscope::memory
