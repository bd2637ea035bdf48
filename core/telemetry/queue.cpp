#include "core/telemetry/queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace batchscope::telemetry {

namespace {

/// stop() cannot wake this wait, so poll at this interval.
constexpr std::chrono::milliseconds ask_interval{50};

} // namespace

RecordQueue::RecordQueue(std::size_t max_waiting, std::function<bool()> ending)
    : max_waiting_(std::max<std::size_t>(1, max_waiting)), ending_(std::move(ending)) {}

void RecordQueue::record(const StepRecord& record) {
  push(record);
}

void RecordQueue::event(Event event) {
  push(std::move(event));
}

void RecordQueue::push(Entry entry) {
  std::unique_lock lock(mutex_);
  while (waiting_.size() >= max_waiting_ && !(ending_ && ending_()))
    room_.wait_for(lock, ask_interval);
  waiting_.push_back(std::move(entry));
}

void RecordQueue::drain(const std::function<void(Entry&&)>& take) {
  std::deque<Entry> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(waiting_);
  }
  room_.notify_one();
  for (Entry& each : taken)
    take(std::move(each));
}

std::size_t RecordQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

} // namespace batchscope::telemetry
