#pragma once

#include <QObject>

#include <deque>
#include <functional>
#include <mutex>

namespace batchscope::ui {

/// Calls functions in the thread that made it, which needs an event loop, in the order in which other threads post
/// them. Values pass under a mutex of its own, and Qt's events only wake: so a thread sanitizer sees that they are
/// handed over, although Qt is not built for it.
class UiQueue : public QObject {
public:
  /// Any thread. Functions that still wait when the queue is destroyed are not called; no thread may post then.
  void post(std::function<void()> function);

protected:
  bool event(QEvent* event) override;

private:
  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_; ///< guarded by mutex_; as many as events on their way
};

} // namespace batchscope::ui
