#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace batchscope::ui {

/// A thread that calls functions one after the other. The functions must not throw.
class WorkerThread {
public:
  WorkerThread();
  ~WorkerThread(); ///< waits until all have been called

  void post(std::function<void()> function); ///< any thread
  void wait();                               ///< until all that were posted have been called

private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::function<void()>> waiting_; ///< guarded by mutex_; the first is being called
  bool closing_ = false;                      ///< guarded by mutex_

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::ui
