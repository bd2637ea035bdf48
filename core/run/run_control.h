#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/job_control.h"

namespace batchscope::run {

/// A change of the plan, waiting for the next step boundary.
struct ScheduleEdit {
  std::string schedule;
  std::optional<std::int64_t> batch = {};   ///< of the very next step; else the present one goes on
  std::optional<std::int64_t> command = {}; ///< number of the command that asked for it, where it came by the database
};

/// How others steer one run, and no other: each run has its own, so that nothing can reach the run after it. Any thread
/// may call; the training loop reads it at step boundaries, which costs two atomic loads while nothing is asked.
class RunControl {
public:
  RunControl() = default;
  /// Of a run that is part of a job and ends with it.
  explicit RunControl(std::shared_ptr<const JobControl> job) : job_(std::move(job)) {}

  // Each is false, and has no effect, where the run is past its last step boundary.
  bool pause();
  bool resume();
  bool step_once(); ///< lets a paused run make one optimizer step; false where it is not paused, too
  [[nodiscard]] bool edit(ScheduleEdit edit);
  /// Ends this run, not its job, at the next step boundary; wakes a paused one. Ends an evaluation, too.
  void stop();

  bool paused() const;
  bool stopping() const; ///< the run or its job

  // --- for the training loop ---
  /// What to do at this boundary. Waits while paused; `before_waiting` is called first, if it comes to that.
  struct Orders {
    bool stop = false;
    bool paused = false;             ///< one step only: the next boundary waits again
    std::vector<ScheduleEdit> edits; ///< in the order in which they were made
    double waited_seconds = 0;
  };
  Orders at_boundary(const std::function<void()>& before_waiting = {});
  /// No boundary comes any more. Returns the edits that came too late for the last one.
  std::vector<ScheduleEdit> close();

private:
  void note_pending();
  bool job_stopping() const { return job_ && job_->stopping(); }

  const std::shared_ptr<const JobControl> job_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> pending_{false}; ///< whether a boundary has anything to look at
  // Guarded by mutex_.
  bool paused_ = false;
  bool stop_ = false;
  bool closed_ = false;
  int single_steps_ = 0;
  std::vector<ScheduleEdit> edits_;
};

} // namespace batchscope::run
