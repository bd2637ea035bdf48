#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::train {

/// A change of the plan, waiting for the next step boundary.
struct ScheduleEdit {
  std::string schedule;
  std::optional<std::int64_t> batch; ///< of the very next step; else the present one goes on
};

/// How others steer a run. Any thread may call; the training loop reads it at step boundaries, which costs one atomic
/// load while nothing is asked.
class RunControl {
public:
  void pause();
  void resume();
  /// Lets a paused run make one optimizer step.
  void step_once();
  /// Ends the run at the next step boundary; wakes a paused one. Safe to call in a signal handler only through
  /// request_stop_from_signal().
  void stop();
  void request_stop_from_signal() noexcept { signalled_.store(true, std::memory_order_relaxed); }
  void edit(ScheduleEdit edit);

  bool paused() const;
  bool stopping() const;

  // --- for the training loop ---
  /// What to do at this boundary. Waits while paused; `before_waiting` is called first, if it comes to that.
  struct Orders {
    bool stop = false;
    bool paused = false;             ///< one step only: the next boundary waits again
    std::vector<ScheduleEdit> edits; ///< in the order in which they were made
    double waited_seconds = 0;
  };
  Orders at_boundary(const std::function<void()>& before_waiting = {});
  /// Drops what came too late for a run, so that the next run of the same job does not get it: edits, a pause and
  /// single steps. A stop is for the whole job and stays.
  void forget_orders();

private:
  void note_pending();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> pending_{false}; ///< whether a boundary has anything to look at
  std::atomic<bool> signalled_{false};
  // Guarded by mutex_.
  bool paused_ = false;
  bool stop_ = false;
  int single_steps_ = 0;
  std::vector<ScheduleEdit> edits_;
};

} // namespace batchscope::train
