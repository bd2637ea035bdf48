#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <variant>

#include "core/telemetry/record.h"

namespace batchscope::telemetry {

/// Report of a training loop; reports keep the order in which things happened.
using Entry = std::variant<StepRecord, Event>;

/// Passes entries from one run's training loop to the one thread that stores or shows them, in order and without loss.
/// The lock is held only long enough to append an entry or to take all of them. The loop blocks only when
/// `max_waiting` entries are queued, that is, when the disk has not responded for minutes. A loop that is to end no
/// longer blocks; its remaining entries are added beyond that limit.
class RecordQueue final : public Sink {
public:
  /// `ending`: whether the loop is to end; called on its thread while it blocks.
  explicit RecordQueue(std::size_t max_waiting = 1'000'000, std::function<bool()> ending = {});

  // --- training loop's thread ---
  void record(const StepRecord& record) override;
  void event(Event event) override;

  // --- the other thread ---
  /// Passes all waiting entries to `take`, oldest first. What the loop pushes during the call stays for the next one.
  void drain(const std::function<void(Entry&&)>& take);

  // --- any thread ---
  std::size_t waiting() const; ///< number of entries

private:
  void push(Entry entry);

  const std::size_t max_waiting_;
  const std::function<bool()> ending_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Entry> waiting_; ///< guarded by mutex_
};

} // namespace batchscope::telemetry
