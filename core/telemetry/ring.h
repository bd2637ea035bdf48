#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace batchscope::telemetry {

/// A lock-free queue between exactly one pushing and one popping thread; neither side ever waits for the other. Each
/// side owns one index and caches the other's, so that it usually touches no memory that the other side writes. T needs
/// a default constructor and move assignment.
template <typename T> class Ring {
public:
  /// `capacity` is rounded up to a power of two.
  explicit Ring(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

  std::size_t capacity() const noexcept { return slots_.size(); }

  /// Number of entries; exact only while both sides are idle. Any thread.
  std::size_t size() const noexcept {
    const std::size_t popped = head_.load(std::memory_order_acquire);
    return tail_.load(std::memory_order_acquire) - popped;
  }

  /// Pushing thread. Returns false, with `value` untouched, if the ring is full.
  bool try_push(T&& value) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ == capacity()) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ == capacity())
        return false;
    }
    slots_[tail & mask_] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Popping thread. Returns false, with `value` untouched, if the ring is empty.
  bool try_pop(T& value) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == seen_tail_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_)
        return false;
    }
    value = std::move(slots_[head & mask_]);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

private:
  // Each side has its own cache line (64 bytes on x86-64 and most ARM), otherwise every push would slow every pop. Both
  // indices only increase; mask_ maps them to slots.
  static constexpr std::size_t cache_line = 64;

  std::vector<T> slots_;
  std::size_t mask_;
  alignas(cache_line) std::atomic<std::size_t> tail_{0}; ///< written by the pushing thread
  std::size_t seen_head_ = 0;                            ///< the pushing thread's copy of head_
  alignas(cache_line) std::atomic<std::size_t> head_{0}; ///< written by the popping thread
  std::size_t seen_tail_ = 0;                            ///< the popping thread's copy of tail_
};

} // namespace batchscope::telemetry
