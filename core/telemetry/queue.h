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

/// What a training loop reports, in the order in which it happened.
using Entry = std::variant<StepRecord, Event>;

/// Passes entries from one run's training loop to the one thread that stores them, in order and without loss.
///
/// The loop pushes into a lock-free ring. If the ring is full, entries go to a list whose lock is held only long enough
/// to swap two pointers. Only if `most_waiting` entries are in that list, which takes a disk that has not responded for
/// minutes, does the loop wait. A loop that is to end no longer waits; its remaining entries are added beyond that
/// limit.
class RecordQueue final : public Sink {
public:
  static constexpr std::size_t usual_capacity = 4096; ///< of the ring

  /// `ending`: whether the loop is to end; called on its thread while it waits.
  explicit RecordQueue(std::size_t most_waiting = 1'000'000, std::size_t capacity = usual_capacity,
                       std::function<bool()> ending = {});

  // --- training loop's thread ---
  void record(const StepRecord& record) override;
  void event(Event event) override;

  // --- storing thread ---
  /// Passes all waiting entries to `take`, oldest first. They include everything pushed before the call if the loop is
  /// idle; what it pushes during the call may stay for the next one.
  void drain(const std::function<void(Entry&&)>& take);

  // --- any thread ---
  /// Number of waiting entries; exact only while both sides are idle.
  std::size_t waiting() const;

private:
  void push(Entry entry);

  Ring<Entry> ring_;
  const std::size_t most_waiting_;
  const std::function<bool()> ending_;
  /// Size of spilled_. While it is not 0, the loop does not push into the ring, whose entries are older.
  std::atomic<std::size_t> spilled_count_{0};
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Entry> spilled_; ///< guarded by mutex_
};

} // namespace batchscope::telemetry
