#pragma once

#include <atomic>

namespace batchscope::run {

/// Stops a job, which may be many runs and searches: nothing more starts, and the current run or search ends at its
/// next step boundary or between two trials. RunControl stops a single run. A program of the user's own that takes too
/// long to stop can be killed. Any thread; safe in a signal handler.
class JobControl {
public:
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }
  void kill() noexcept {
    stop();
    killing_.store(true, std::memory_order_relaxed);
  }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool killing() const noexcept { return killing_.load(std::memory_order_relaxed); }

private:
  std::atomic<bool> stopping_{false};
  std::atomic<bool> killing_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

} // namespace batchscope::run
