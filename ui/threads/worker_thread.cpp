#include "ui/threads/worker_thread.h"

#include <utility>

namespace batchscope::ui {

WorkerThread::WorkerThread() : thread_([this] { loop(); }) {}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void WorkerThread::post(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(function));
  }
  wake_.notify_one();
}

void WorkerThread::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return waiting_.empty(); });
}

void WorkerThread::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty())
      return;
    {
      const auto function = std::move(waiting_.front()); // a moved-from place is kept until it has been called
      lock.unlock();
      function();
    }
    lock.lock();
    waiting_.pop_front();
    if (waiting_.empty())
      done_.notify_all();
  }
}

} // namespace batchscope::ui
