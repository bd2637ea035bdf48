#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace batchscope {

/// Looks after something that goes on: calls `look` every 50 ms, on a thread of its own, until it is destroyed.
class Lookout {
public:
  explicit Lookout(std::function<void()> look) : thread_([this, look = std::move(look)] { work(look); }) {}
  ~Lookout() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

private:
  void work(const std::function<void()>& look) {
    constexpr std::chrono::milliseconds interval{50};
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, interval, [this] { return over_; }))
      look();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  ///< guarded by mutex_
  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope
