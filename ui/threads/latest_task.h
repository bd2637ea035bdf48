#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "ui/threads/ui_queue.h"

namespace batchscope::ui {

/// A thread for work whose result only matters until the next request: it runs the newest task, and a task in progress
/// is replaced by a newer one. UI thread.
class LatestTask {
public:
  /// Passed to a task; only its thread uses it.
  class Progress {
  public:
    /// Whether a newer task came, or the task was cancelled: its work is not needed any more.
    bool replaced() const { return owner_.newest_ != number_; }
    /// Calls `tell` in the UI thread, unless the task is replaced before.
    void post(std::function<void()> tell) const;

  private:
    friend class LatestTask;
    Progress(LatestTask& owner, std::uint64_t number) : owner_(owner), number_(number) {}
    LatestTask& owner_;
    std::uint64_t number_;
  };
  using Task = std::function<void(const Progress&)>; ///< must not throw

  LatestTask();
  ~LatestTask(); ///< waits for the task in progress, which is told that it is replaced
  LatestTask(const LatestTask&) = delete;
  LatestTask& operator=(const LatestTask&) = delete;

  void start(Task task);
  void cancel(); ///< nothing of the tasks so far is posted any more

private:
  void loop();

  UiQueue results_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Task waiting_;         ///< guarded by mutex_
  bool closing_ = false; ///< guarded by mutex_
  std::atomic<std::uint64_t> newest_{0};

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::ui
