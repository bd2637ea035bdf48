#include "core/meta/detail/meta_device.h"

#include <limits>
#include <utility>

#include <c10/core/Allocator.h>

#include "core/memory/detail/block_counter.h"
#include "core/memory/detail/budget_allocator.h"

namespace batchscope::meta {

namespace {

/// The counter of this thread's Scope.
thread_local memory::BlockCounter* counter = nullptr;

struct MetaBlock {
  memory::BlockCounter::Block block;
  memory::BlockCounter* counted_by = nullptr;
};

void free_block(void* context) {
  const std::unique_ptr<MetaBlock> freed(static_cast<MetaBlock*>(context));
  if (freed->counted_by != nullptr)
    freed->counted_by->remove(freed->block);
}

/// LibTorch's allocator for `meta`: blocks have a size and an owner, and no memory.
class MetaAllocator final : public c10::Allocator {
public:
  /// The first call installs the allocator in LibTorch, which keeps a raw pointer to it for ever.
  static void install() {
    static MetaAllocator allocator;
    static const bool installed = (c10::SetAllocator(c10::kMeta, &allocator, 255), true);
    (void)installed;
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(c10::kMeta);
    if (counter == nullptr || bytes == 0)
      return {nullptr, nullptr, &free_block, device};
    auto block = std::make_unique<MetaBlock>();
    block->block.capacity = memory::rounded_up(bytes);
    block->counted_by = counter;
    counter->add(block->block, bytes);
    return {nullptr, block.release(), &free_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

class CountingMetaDevice final : public MetaDevice {
public:
  CountingMetaDevice() { MetaAllocator::install(); }

  std::string name() const override { return "meta"; }
  memory::DeviceKind kind() const override { return memory::DeviceKind::meta; }
  int index() const override { return 0; }
  memory::Readings readings() const override {
    return {.in_use = counter_.in_use(),
            .reserved = counter_.in_use(),
            .peak = counter_.peak(),
            .limit = std::numeric_limits<std::uint64_t>::max(),
            .refused = 0,
            .device_wide = std::nullopt};
  }
  void set_budget(std::uint64_t) override {} // nothing is refused
  void reset_peak() override { counter_.reset_peak(); }
  std::uint64_t available() const override { return std::numeric_limits<std::uint64_t>::max(); }
  void release_cache() override {}
  void synchronize() override {}
  void enter(telemetry::Phase phase) override { counter_.enter(phase); }
  void retag(const void*, telemetry::Use) override {} // blocks have no address
  std::optional<memory::OutOfMemoryInfo> take_last_oom() override { return std::nullopt; }
  bool start_trace() override {
    counter_.start_trace();
    return true;
  }
  telemetry::Trace stop_trace() override { return counter_.stop_trace(); }

  memory::BlockCounter& counter() { return counter_; }

private:
  memory::BlockCounter counter_;
};

} // namespace

struct MetaDevice::Scope::State {
  memory::BlockCounter* before = nullptr;
  memory::NotCounted on_host; // scalars that LibTorch makes on the host
};

std::unique_ptr<MetaDevice> MetaDevice::open() {
  return std::make_unique<CountingMetaDevice>();
}

MetaDevice::Scope::Scope(MetaDevice& device) : state_(std::make_unique<State>()) {
  state_->before = std::exchange(counter, &static_cast<CountingMetaDevice&>(device).counter());
}

MetaDevice::Scope::~Scope() {
  counter = state_->before;
}

} // namespace batchscope::meta
