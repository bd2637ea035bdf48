#include "core/run/run_control.h"

#include <chrono>
#include <utility>

namespace batchscope::run {

namespace {

using Clock = std::chrono::steady_clock;

/// A signal handler that stops the job cannot wake a condition variable, so a paused run polls its job at this
/// interval.
constexpr std::chrono::milliseconds job_interval{50};

} // namespace

void RunControl::note_pending() {
  pending_.store(paused_ || stop_ || !edits_.empty() || !budgets_.empty(), std::memory_order_release);
  if (notify_)
    notify_();
}

bool RunControl::pause() {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return false;
  paused_ = true;
  note_pending();
  return true;
}

bool RunControl::resume() {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return false;
  paused_ = false;
  single_steps_ = 0;
  note_pending();
  changed_.notify_all();
  return true;
}

bool RunControl::step_once() {
  const std::lock_guard lock(mutex_);
  if (closed_ || !paused_)
    return false;
  ++single_steps_;
  note_pending();
  changed_.notify_all();
  return true;
}

void RunControl::stop(bool save) {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  save_ = save_ || save;
  note_pending();
  changed_.notify_all();
}

bool RunControl::edit(ScheduleEdit edit) {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return false;
  edits_.push_back(std::move(edit));
  note_pending();
  return true;
}

bool RunControl::set_budget(const BudgetChange& change) {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return false;
  budgets_.push_back(change);
  note_pending();
  return true;
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

bool RunControl::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_ || job_stopping();
}

std::vector<ScheduleEdit> RunControl::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  paused_ = false;
  single_steps_ = 0;
  std::vector<ScheduleEdit> late = std::exchange(edits_, {});
  budgets_.clear();
  note_pending();
  return late;
}

void RunControl::notify(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  notify_ = std::move(changed);
}

RunControl::Orders RunControl::take() {
  const std::lock_guard lock(mutex_);
  Orders orders{.stop = stop_ || job_stopping(),
                .save = save_,
                .paused = paused_,
                .single_steps = std::exchange(single_steps_, 0),
                .edits = {},
                .budgets = {}};
  // A stopping run applies no edits: close() returns them.
  if (!orders.stop) {
    orders.edits = std::exchange(edits_, {});
    orders.budgets = std::exchange(budgets_, {});
  }
  return orders;
}

RunControl::Requests RunControl::at_boundary(const std::function<void()>& before_waiting) {
  Requests requests;
  requests.stop = job_stopping();
  if (requests.stop || !pending_.load(std::memory_order_acquire))
    return requests;

  std::unique_lock lock(mutex_);
  const auto stopping = [this] { return stop_ || job_stopping(); };
  const auto may_go = [&] { return !paused_ || single_steps_ > 0 || stopping(); };
  if (before_waiting && !may_go()) {
    lock.unlock();
    before_waiting();
    lock.lock();
  }
  const auto started = Clock::now();
  while (!may_go())
    changed_.wait_for(lock, job_interval);
  requests.waited_seconds = std::chrono::duration<double>(Clock::now() - started).count();

  requests.stop = stopping();
  requests.paused = paused_ && !requests.stop;
  if (requests.paused)
    --single_steps_;
  // A stopping run applies no edits: close() returns them.
  if (!requests.stop) {
    requests.edits = std::exchange(edits_, {});
    requests.budgets = std::exchange(budgets_, {});
  }
  note_pending();
  return requests;
}

} // namespace batchscope::run
