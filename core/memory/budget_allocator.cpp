#include "core/memory/detail/budget_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace batchscope::memory {

namespace {

/// Minimum size of the cache, whatever the run's peak, so that small runs do not churn the heap.
constexpr std::uint64_t kept_at_least = 64 << 20;

thread_local bool not_counted = false;
thread_local BlockCounter* own_counter = nullptr; ///< of this thread's NotCounted

} // namespace

/// Header before every block; its size keeps the block aligned.
struct alignas(block_granularity) BudgetAllocator::Header {
  BlockCounter::Block block;
  Header* older; ///< neighbours in the list of cached blocks
  Header* newer;
  BlockCounter* counter; ///< null if nothing counts it

  void* data() { return this + 1; }
  static Header* of(void* data) { return static_cast<Header*>(data) - 1; }
};

BudgetAllocator& BudgetAllocator::instance() {
  static BudgetAllocator* allocator = [] {
    auto* made = new BudgetAllocator; // never destroyed: blocks may be freed after main()
    c10::SetCPUAllocator(made, 255);
    return made;
  }();
  return *allocator;
}

void BudgetAllocator::set_limit(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  refused_ = 0;
  out_of_memory_.reset();
  give_back_until(limit_);
}

Readings BudgetAllocator::readings() const {
  std::lock_guard lock(mutex_);
  return {.in_use = live_.in_use(),
          .reserved = live_.in_use() + kept_,
          .peak = live_.peak(),
          .limit = limit_,
          .refused = refused_,
          .peak_by = live_.peak_by()};
}

void BudgetAllocator::reset_peak() {
  std::lock_guard lock(mutex_);
  live_.reset_peak();
}

void BudgetAllocator::release_cache() {
  std::lock_guard lock(mutex_);
  give_back_until(live_.in_use());
  high_water_ = live_.in_use();
}

void BudgetAllocator::enter(telemetry::Phase phase) {
  std::lock_guard lock(mutex_);
  live_.enter(phase);
}

void BudgetAllocator::retag(const void* data, telemetry::Use use) {
  if (data == nullptr)
    return;
  std::lock_guard lock(mutex_);
  Header* header = Header::of(const_cast<void*>(data));
  if (header->counter == &live_)
    live_.retag(header->block, use);
}

std::optional<OutOfMemoryInfo> BudgetAllocator::take_last_oom() {
  std::lock_guard lock(mutex_);
  return std::exchange(out_of_memory_, std::nullopt);
}

void BudgetAllocator::start_trace() {
  std::lock_guard lock(mutex_);
  live_.start_trace();
}

telemetry::Trace BudgetAllocator::stop_trace() {
  std::lock_guard lock(mutex_);
  return live_.stop_trace();
}

c10::DataPtr BudgetAllocator::allocate(size_t bytes) {
  const c10::Device device(c10::DeviceType::CPU);
  if (bytes == 0)
    return {nullptr, nullptr, &free_block, device};
  const std::size_t capacity = rounded_up(bytes);
  // Check, allocate and charge under one lock, so that two threads cannot both take the last bytes.
  std::lock_guard lock(mutex_);
  if (!not_counted && (capacity > limit_ || live_.in_use() > limit_ - capacity))
    refuse(capacity);
  Header* header = take_kept(capacity);
  if (header == nullptr)
    header = take_fresh(capacity);
  charge(header, bytes);
  return {header->data(), header->data(), &free_block, device};
}

BudgetAllocator::Header* BudgetAllocator::take_fresh(std::size_t capacity) {
  if (!not_counted && limit_ != UINT64_MAX)
    give_back_until(limit_ - capacity);
  void* memory = nullptr;
  if (posix_memalign(&memory, block_granularity, sizeof(Header) + capacity) != 0) {
    give_back_until(live_.in_use());
    if (posix_memalign(&memory, block_granularity, sizeof(Header) + capacity) != 0)
      refuse(capacity); // the machine has no memory left
  }
  return new (memory) Header{{.capacity = capacity}, nullptr, nullptr, nullptr};
}

c10::DeleterFnPtr BudgetAllocator::raw_deleter() const {
  return &free_block;
}

void BudgetAllocator::copy_data(void* destination, const void* source, std::size_t count) const {
  default_copy_data(destination, source, count);
}

std::optional<std::uint64_t> BudgetAllocator::capacity(const c10::DataPtr& block) {
  if (block.get() == nullptr || block.get_deleter() != &free_block)
    return std::nullopt;
  return Header::of(block.get())->block.capacity;
}

void BudgetAllocator::free_block(void* data) {
  if (data != nullptr)
    instance().free(Header::of(data));
}

void BudgetAllocator::charge(Header* header, std::size_t requested) {
  header->counter = not_counted ? own_counter : &live_;
  if (header->counter != nullptr)
    header->counter->add(header->block, requested);
  high_water_ = std::max(high_water_, live_.in_use());
}

void BudgetAllocator::free(Header* header) {
  std::lock_guard lock(mutex_);
  if (header->counter != nullptr)
    header->counter->remove(header->block);
  if (header->counter != &live_) {
    std::free(header);
    return;
  }
  keep(header);
  give_back_until(std::max(2 * high_water_, kept_at_least));
}

void BudgetAllocator::keep(Header* header) {
  kept_by_size_[header->block.capacity].push_back(header);
  header->older = newest_;
  header->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = header;
  newest_ = header;
  kept_ += header->block.capacity;
}

void BudgetAllocator::unlink(Header* header) {
  (header->older != nullptr ? header->older->newer : oldest_) = header->newer;
  (header->newer != nullptr ? header->newer->older : newest_) = header->older;
  kept_ -= header->block.capacity;
}

BudgetAllocator::Header* BudgetAllocator::take_kept(std::size_t capacity) {
  const auto found = kept_by_size_.find(capacity);
  if (found == kept_by_size_.end() || found->second.empty())
    return nullptr;
  Header* header = found->second.back();
  found->second.pop_back();
  unlink(header);
  return header;
}

/// Frees cached blocks, oldest first; the oldest of all is at the front of the queue of its size.
void BudgetAllocator::give_back_until(std::uint64_t reserved_at_most) {
  while (oldest_ != nullptr && live_.in_use() + kept_ > reserved_at_most) {
    Header* header = oldest_;
    const auto found = kept_by_size_.find(header->block.capacity);
    found->second.pop_front();
    if (found->second.empty())
      kept_by_size_.erase(found);
    unlink(header);
    std::free(header);
  }
}

void BudgetAllocator::refuse(std::uint64_t bytes) {
  give_back_until(live_.in_use());
  ++refused_;
  out_of_memory_ = {.requested = bytes,
                    .in_use = live_.in_use(),
                    .reserved = live_.in_use() + kept_,
                    .limit = limit_,
                    .phase = live_.phase(),
                    .in_use_by = live_.in_use_by(),
                    .by_use_known = true};
  TORCH_CHECK_WITH(OutOfMemoryError, false, "cpu: out of memory: tried to allocate ", bytes, " bytes with ",
                   live_.in_use(), " in use, budget ", limit_);
}

NotCounted::NotCounted(BlockCounter* counter)
    : before_(std::exchange(not_counted, true)), counter_before_(std::exchange(own_counter, counter)) {
  BudgetAllocator::instance(); // which does the counting; no device may have been opened yet
}

NotCounted::~NotCounted() {
  not_counted = before_;
  own_counter = counter_before_;
}

} // namespace batchscope::memory
