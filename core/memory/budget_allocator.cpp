#include "core/memory/detail/budget_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace batchscope::memory {

namespace {

constexpr std::size_t alignment = 64;
/// Minimum size of the cache, whatever the run's peak, so that small runs do not churn the heap.
constexpr std::uint64_t kept_at_least = 64 << 20;

thread_local bool not_counted = false;

std::size_t round_up(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

/// Header before every block; its size keeps the block aligned.
struct alignas(alignment) BudgetAllocator::Header {
  std::size_t capacity;
  Header* older; ///< neighbours in the list of cached blocks
  Header* newer;
  std::uint32_t trace_serial;
  std::uint32_t trace_block;
  telemetry::Use use;
  bool counted;

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
  return {in_use_, in_use_ + kept_, peak_, limit_, refused_, std::nullopt};
}

void BudgetAllocator::reset_peak() {
  std::lock_guard lock(mutex_);
  peak_ = in_use_;
}

void BudgetAllocator::release_cache() {
  std::lock_guard lock(mutex_);
  give_back_until(in_use_);
  high_water_ = in_use_;
}

void BudgetAllocator::enter(telemetry::Phase phase) {
  std::lock_guard lock(mutex_);
  phase_ = phase;
}

void BudgetAllocator::retag(const void* data, telemetry::Use use) {
  if (data == nullptr)
    return;
  std::lock_guard lock(mutex_);
  Header* header = Header::of(const_cast<void*>(data));
  if (!header->counted || header->use == use)
    return;
  in_use_by_[static_cast<int>(header->use)] -= header->capacity;
  in_use_by_[static_cast<int>(use)] += header->capacity;
  header->use = use;
}

std::optional<OutOfMemoryInfo> BudgetAllocator::take_out_of_memory() {
  std::lock_guard lock(mutex_);
  return std::exchange(out_of_memory_, std::nullopt);
}

void BudgetAllocator::start_trace() {
  std::lock_guard lock(mutex_);
  tracing_ = true;
  ++trace_serial_;
  trace_blocks_ = 0;
  trace_ = {};
  trace_.granularity = alignment;
  trace_.start_bytes = in_use_;
  trace_.start_bytes_by = in_use_by_;
  trace_.peak_bytes = in_use_;
}

telemetry::Trace BudgetAllocator::stop_trace() {
  std::lock_guard lock(mutex_);
  tracing_ = false;
  return std::move(trace_);
}

c10::DataPtr BudgetAllocator::allocate(size_t bytes) {
  const c10::Device device(c10::DeviceType::CPU);
  if (bytes == 0)
    return {nullptr, nullptr, &free_block, device};
  const std::size_t capacity = round_up(bytes);
  // Check, allocate and charge under one lock, so that two threads cannot both take the last bytes.
  std::lock_guard lock(mutex_);
  if (!not_counted && (capacity > limit_ || in_use_ > limit_ - capacity))
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
  if (posix_memalign(&memory, alignment, sizeof(Header) + capacity) != 0) {
    give_back_until(in_use_);
    if (posix_memalign(&memory, alignment, sizeof(Header) + capacity) != 0)
      refuse(capacity); // the machine has no memory left
  }
  return new (memory) Header{capacity, nullptr, nullptr, 0, 0, telemetry::Use::workspace, false};
}

c10::DeleterFnPtr BudgetAllocator::raw_deleter() const {
  return &free_block;
}

void BudgetAllocator::copy_data(void* destination, const void* source, std::size_t count) const {
  default_copy_data(destination, source, count);
}

void BudgetAllocator::free_block(void* data) {
  if (data != nullptr)
    instance().free(Header::of(data));
}

void BudgetAllocator::charge(Header* header, std::size_t requested) {
  header->counted = !not_counted;
  header->trace_serial = 0;
  if (!header->counted)
    return;
  in_use_ += header->capacity;
  peak_ = std::max(peak_, in_use_);
  high_water_ = std::max(high_water_, in_use_);
  header->use = use_of(phase_);
  in_use_by_[static_cast<int>(header->use)] += header->capacity;
  if (tracing_) {
    trace_.peak_bytes = std::max(trace_.peak_bytes, in_use_);
    header->trace_serial = trace_serial_;
    header->trace_block = trace_blocks_++;
    trace_.events.push_back({header->trace_block, true, phase_, requested});
  }
}

void BudgetAllocator::free(Header* header) {
  std::lock_guard lock(mutex_);
  if (!header->counted) {
    std::free(header);
    return;
  }
  in_use_ -= header->capacity;
  in_use_by_[static_cast<int>(header->use)] -= header->capacity;
  if (tracing_) {
    const bool known = header->trace_serial == trace_serial_;
    trace_.events.push_back(
        {known ? header->trace_block : telemetry::block_from_before, false, phase_, header->capacity});
  }
  keep(header);
  give_back_until(std::max(2 * high_water_, kept_at_least));
}

void BudgetAllocator::keep(Header* header) {
  kept_by_size_[header->capacity].push_back(header);
  header->older = newest_;
  header->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = header;
  newest_ = header;
  kept_ += header->capacity;
}

void BudgetAllocator::unlink(Header* header) {
  (header->older != nullptr ? header->older->newer : oldest_) = header->newer;
  (header->newer != nullptr ? header->newer->older : newest_) = header->older;
  kept_ -= header->capacity;
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
  while (oldest_ != nullptr && in_use_ + kept_ > reserved_at_most) {
    Header* header = oldest_;
    const auto found = kept_by_size_.find(header->capacity);
    found->second.pop_front();
    if (found->second.empty())
      kept_by_size_.erase(found);
    unlink(header);
    std::free(header);
  }
}

void BudgetAllocator::refuse(std::uint64_t bytes) {
  give_back_until(in_use_);
  ++refused_;
  out_of_memory_ = OutOfMemoryInfo{bytes, in_use_, in_use_ + kept_, limit_, phase_, in_use_by_, true};
  TORCH_CHECK_WITH(OutOfMemoryError, false, "cpu: out of memory: tried to allocate ", bytes, " bytes with ", in_use_,
                   " in use, budget ", limit_);
}

NotCounted::NotCounted() : before_(std::exchange(not_counted, true)) {}
NotCounted::~NotCounted() {
  not_counted = before_;
}

telemetry::Use use_of(telemetry::Phase phase) {
  switch (phase) {
  case telemetry::Phase::setup:
    return telemetry::Use::parameters;
  case telemetry::Phase::batch:
    return telemetry::Use::batch;
  case telemetry::Phase::forward:
  case telemetry::Phase::evaluation:
    return telemetry::Use::activations;
  case telemetry::Phase::optimizer_state:
    return telemetry::Use::optimizer;
  case telemetry::Phase::backward:
  case telemetry::Phase::update:
    return telemetry::Use::workspace;
  }
  return telemetry::Use::workspace;
}

} // namespace batchscope::memory
