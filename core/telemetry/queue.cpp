#include "core/telemetry/queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace batchscope::telemetry {

namespace {

/// stop() cannot wake this wait, so poll at this interval.
constexpr std::chrono::milliseconds ask_interval{50};

} // namespace

RecordQueue::RecordQueue(std::size_t most_waiting, std::size_t capacity, std::function<bool()> ending)
    : ring_(capacity), most_waiting_(std::max<std::size_t>(1, most_waiting)), ending_(std::move(ending)) {}

void RecordQueue::record(const StepRecord& record) {
  push(record);
}

void RecordQueue::event(Event event) {
  push(std::move(event));
}

void RecordQueue::push(Entry entry) {
  if (spilled_count_.load(std::memory_order_acquire) == 0 && ring_.try_push(std::move(entry)))
    return;
  std::unique_lock lock(mutex_);
  while (spilled_.size() >= most_waiting_ && !(ending_ && ending_()))
    room_.wait_for(lock, ask_interval);
  spilled_.push_back(std::move(entry));
  spilled_count_.store(spilled_.size(), std::memory_order_release);
}

void RecordQueue::drain(const std::function<void(Entry&&)>& take) {
  // Read before the ring is emptied: from here until the list is taken, the ring receives nothing newer than the list,
  // so ring first and list second is the order of pushing.
  const bool spilled = spilled_count_.load(std::memory_order_acquire) > 0;
  Entry entry;
  for (std::size_t i = 0; i < ring_.capacity() && ring_.try_pop(entry); ++i)
    take(std::move(entry));
  if (!spilled)
    return;
  std::deque<Entry> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(spilled_);
    spilled_count_.store(0, std::memory_order_release);
  }
  room_.notify_one();
  for (Entry& each : taken)
    take(std::move(each));
}

std::size_t RecordQueue::waiting() const {
  return ring_.size() + spilled_count_.load(std::memory_order_acquire);
}

} // namespace batchscope::telemetry
