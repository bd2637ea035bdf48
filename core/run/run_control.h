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

/// A change of the schedule, or of the shares of the data streams, applied at the next step boundary.
struct ScheduleEdit {
  std::string schedule;
  std::optional<std::int64_t> batch = {};   ///< batch of the very next step; without it the current batch is kept
  std::optional<std::int64_t> command = {}; ///< number of the command that requested it, if sent through the database
  std::optional<std::string> shares = {};   ///< instead of schedule and batch
};

/// A change of the memory budget, applied at the next step boundary.
struct BudgetChange {
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> command = {}; ///< as in ScheduleEdit
};

/// Steers one run, from any thread. Each run has its own control, so a command never reaches the run after it. The
/// training loop reads it at step boundaries; without a pending command this costs two atomic loads.
class RunControl {
public:
  RunControl() = default;
  /// For a run that is part of a job and ends with it.
  explicit RunControl(std::shared_ptr<const JobControl> job) : job_(std::move(job)) {}

  // Each returns false, and has no effect, if the run is past its last step boundary.
  bool pause();
  bool resume();
  bool step_once(); ///< lets a paused run make one optimizer step; also false if it is not paused
  [[nodiscard]] bool edit(ScheduleEdit edit);
  bool set_budget(const BudgetChange& change);
  /// Ends this run, not its job, at the next step boundary; wakes a paused run and ends an evaluation. `save`: a
  /// program is asked for a checkpoint before.
  void stop(bool save = false);

  bool paused() const;
  bool stopping() const;                                   ///< the run or its job
  bool killing() const { return job_ && job_->killing(); } ///< see JobControl::kill()

  // --- for the training loop ---
  /// Requests to the loop at a step boundary. at_boundary() blocks while paused; it calls `before_waiting` before it
  /// blocks.
  struct Requests {
    bool stop = false;
    bool paused = false;             ///< make one step, then wait again at the next boundary
    std::vector<ScheduleEdit> edits; ///< in the order in which they were requested
    std::vector<BudgetChange> budgets;
    double waited_seconds = 0;
  };
  Requests at_boundary(const std::function<void()>& before_waiting = {});
  /// Called after the last boundary. Returns the edits that came too late.
  std::vector<ScheduleEdit> close();

  // --- for a run whose steps another process makes: it is told what to do, and nobody waits here ---
  struct Orders {
    bool stop = false;
    bool save = false; ///< a checkpoint before the stop
    bool paused = false;
    int single_steps = 0;            ///< to make while paused, since the last call
    std::vector<ScheduleEdit> edits; ///< as in Requests
    std::vector<BudgetChange> budgets;
  };
  /// Returns the orders given since the last call; never waits.
  Orders take();
  /// Calls `changed` whenever take() may have something new, on the thread that asked for it; it must return at once
  /// and call nothing here. A stop of the job calls nothing. An empty one ends the calls.
  void notify(std::function<void()> changed);

private:
  void note_pending();
  bool job_stopping() const { return job_ && job_->stopping(); }

  const std::shared_ptr<const JobControl> job_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> pending_{false}; ///< whether the next boundary has anything to do
  // Guarded by mutex_.
  std::function<void()> notify_;
  bool paused_ = false;
  bool stop_ = false;
  bool save_ = false;
  bool closed_ = false;
  int single_steps_ = 0;
  std::vector<ScheduleEdit> edits_;
  std::vector<BudgetChange> budgets_;
};

} // namespace batchscope::run
