#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <variant>

#include "core/telemetry/record.h"
#include "core/telemetry/ring.h"

namespace batchscope::telemetry {

/// What travels from a loop to whoever watches it, in the order in which it happened.
using Entry = std::variant<StepRecord, Event>;

/// From one run's loop to the one thread that stores what it reports, in order and without loss.
///
/// The loop pushes into a lock-free ring. Where the other side falls behind so far that the ring is full, entries go
/// to a list behind a lock that is never held for longer than exchanging two pointers. Only when `most_waiting` entries
/// wait there, which takes a disk that has stood still for minutes, does the loop wait rather than lose one; a loop
/// that is to end waits no longer, and what it still pushes is added beyond that bound.
class RecordQueue final : public Sink {
public:
  static constexpr std::size_t usual_capacity = 4096; ///< of the ring

  /// `ending`: whether the loop is to end, asked on its thread while it waits.
  explicit RecordQueue(std::size_t most_waiting = 1'000'000, std::size_t capacity = usual_capacity,
                       std::function<bool()> ending = {});

  // --- the loop's thread ---
  void record(const StepRecord& record) override;
  void event(Event event) override;

  // --- the storing thread ---
  /// Hands over what waits, oldest first. Everything that was pushed before the call is in it as soon as the loop
  /// rests; while it goes on, what it pushes meanwhile may stay for the next call.
  void drain(const std::function<void(Entry&&)>& take);

  // --- any thread ---
  /// Entries that wait; exact only while both sides rest.
  std::size_t waiting() const;

private:
  void push(Entry entry);

  Ring<Entry> ring_;
  const std::size_t standstill_;
  const std::function<bool()> ending_;
  /// Size of spilled_. While it is not 0, the loop pushes nothing into the ring: what is there is older.
  std::atomic<std::size_t> spilled_count_{0};
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Entry> spilled_; ///< guarded by mutex_
};

} // namespace batchscope::telemetry
