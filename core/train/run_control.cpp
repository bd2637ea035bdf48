#include "core/train/run_control.h"

#include <chrono>
#include <utility>

namespace batchscope::train {

namespace {

using Clock = std::chrono::steady_clock;

/// A signal handler cannot wake a condition variable, so a paused run looks for a signal this often.
constexpr std::chrono::milliseconds signal_interval{50};

} // namespace

void RunControl::note_pending() {
  pending_.store(paused_ || stop_ || !edits_.empty(), std::memory_order_release);
}

void RunControl::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
  note_pending();
}

void RunControl::resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  single_steps_ = 0;
  note_pending();
  changed_.notify_all();
}

void RunControl::step_once() {
  const std::lock_guard lock(mutex_);
  if (!paused_)
    return;
  ++single_steps_;
  changed_.notify_all();
}

void RunControl::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  note_pending();
  changed_.notify_all();
}

void RunControl::edit(ScheduleEdit edit) {
  const std::lock_guard lock(mutex_);
  edits_.push_back(std::move(edit));
  note_pending();
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

bool RunControl::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_ || signalled_.load(std::memory_order_relaxed);
}

void RunControl::forget_orders() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  single_steps_ = 0;
  edits_.clear();
  note_pending();
}

RunControl::Orders RunControl::at_boundary(const std::function<void()>& before_waiting) {
  Orders orders;
  orders.stop = signalled_.load(std::memory_order_relaxed);
  if (orders.stop || !pending_.load(std::memory_order_acquire))
    return orders;

  std::unique_lock lock(mutex_);
  const auto stopping = [this] { return stop_ || signalled_.load(std::memory_order_relaxed); };
  const auto may_go = [&] { return !paused_ || single_steps_ > 0 || stopping(); };
  if (before_waiting && !may_go()) {
    lock.unlock();
    before_waiting();
    lock.lock();
  }
  const auto started = Clock::now();
  while (!may_go())
    changed_.wait_for(lock, signal_interval);
  orders.waited_seconds = std::chrono::duration<double>(Clock::now() - started).count();

  orders.stop = stopping();
  orders.paused = paused_ && !orders.stop;
  if (orders.paused)
    --single_steps_;
  orders.edits = std::exchange(edits_, {});
  note_pending();
  return orders;
}

} // namespace batchscope::train
