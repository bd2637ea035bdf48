#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <c10/core/Allocator.h>

#include "core/memory/detail/block_counter.h"
#include "core/memory/device.h"

namespace batchscope::memory {

/// LibTorch's CPU allocator for this process: counts blocks against a budget and caches freed blocks for reuse.
///
/// LibTorch keeps a raw pointer to it for ever, hence the one instance with static lifetime. Block sizes are rounded up
/// to 64 bytes. A request that would take the sum above the limit throws c10::OutOfMemoryError after the whole cache
/// was released. A cached block is reused only for requests of its own size, so the bytes in use depend on the requests
/// alone and not on the cache; this makes peaks exactly repeatable and predictable.
///
/// Thread-safe: OpenMP and autograd worker threads allocate and free too.
class BudgetAllocator final : public c10::Allocator {
public:
  /// The first call installs the allocator in LibTorch.
  static BudgetAllocator& instance();

  void set_limit(std::uint64_t bytes);
  Readings readings() const;
  void reset_peak();
  void release_cache();
  void enter(telemetry::Phase phase);
  void retag(const void* data, telemetry::Use use);
  std::optional<OutOfMemoryInfo> take_last_oom();
  void start_trace();
  telemetry::Trace stop_trace();

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, std::size_t count) const override;

  /// Bytes of a block that this allocator made, at least those asked for; nothing for any other memory.
  static std::optional<std::uint64_t> capacity(const c10::DataPtr& block);

private:
  struct Header;

  BudgetAllocator() = default;
  static void free_block(void* data);
  void free(Header* header);
  void keep(Header* header);
  Header* take_kept(std::size_t capacity);
  Header* take_fresh(std::size_t capacity);
  void unlink(Header* header);
  void give_back_until(std::uint64_t reserved_at_most);
  void charge(Header* header, std::size_t requested);
  [[noreturn]] void refuse(std::uint64_t bytes);

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::uint64_t limit_ = UINT64_MAX;
  BlockCounter live_;
  std::uint64_t kept_ = 0;
  std::uint64_t high_water_ = 0; ///< most bytes in use since release_cache; bounds the cache
  std::uint64_t refused_ = 0;
  std::optional<OutOfMemoryInfo> out_of_memory_;
  /// Cached blocks by capacity, each queue oldest first, and all of them as a list from oldest to newest.
  std::unordered_map<std::size_t, std::deque<Header*>> kept_by_size_;
  Header* oldest_ = nullptr;
  Header* newest_ = nullptr;
};

/// While one exists, allocations of this thread are the program's own (snapshots): neither counted against the budget
/// nor refused.
class NotCounted {
public:
  NotCounted() : NotCounted(nullptr) {}
  /// Counts them with `counter`, which must outlive the blocks and is used by this thread only.
  explicit NotCounted(BlockCounter* counter);
  ~NotCounted();
  NotCounted(const NotCounted&) = delete;
  NotCounted& operator=(const NotCounted&) = delete;

private:
  bool before_;
  BlockCounter* counter_before_;
};

} // namespace batchscope::memory
