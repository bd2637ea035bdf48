#pragma once

#include <atomic>

namespace batchscope::run {

/// Stops a job, which may be many runs and searches: nothing more starts, and the current run or search ends at its
/// next step boundary or between two trials. RunControl stops a single run. Any thread; safe in a signal handler.
class JobControl {
public:
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

private:
  std::atomic<bool> stopping_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

} // namespace batchscope::run
