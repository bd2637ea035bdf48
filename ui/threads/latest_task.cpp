#include "ui/threads/latest_task.h"

#include <utility>

namespace batchscope::ui {

void LatestTask::Progress::post(std::function<void()> tell) const {
  owner_.results_.post([&owner = owner_, number = number_, tell = std::move(tell)] {
    if (owner.newest_ == number)
      tell();
  });
}

LatestTask::LatestTask() : thread_([this] { loop(); }) {}

LatestTask::~LatestTask() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    ++newest_;
  }
  wake_.notify_one();
  thread_.join();
}

void LatestTask::start(Task task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(task);
    ++newest_;
  }
  wake_.notify_one();
}

void LatestTask::cancel() {
  const std::lock_guard lock(mutex_);
  waiting_ = nullptr;
  ++newest_;
}

void LatestTask::loop() {
  while (true) {
    Task task;
    std::uint64_t number = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || waiting_; });
      if (closing_)
        return;
      task = std::exchange(waiting_, nullptr);
      number = newest_;
    }
    task(Progress(*this, number));
  }
}

} // namespace batchscope::ui
