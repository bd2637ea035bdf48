#pragma once

#include <atomic>

namespace batchscope::run {

/// Ends a job, which may be many runs and searches: nothing that is left of it begins, and what goes on ends at its
/// next step boundary, or between two trials. A single run of it is ended by its RunControl. Any thread; in a signal
/// handler, too.
class JobControl {
public:
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

private:
  std::atomic<bool> stopping_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

} // namespace batchscope::run
