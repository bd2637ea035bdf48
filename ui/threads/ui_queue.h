#pragma once

#include <QObject>

#include <deque>
#include <functional>
#include <mutex>

namespace batchscope::ui {

/// Calls functions that other threads post, in their order, in the thread that made the queue; that thread needs an
/// event loop. The functions pass under the queue's own mutex, and Qt's events only wake the thread. The thread
/// sanitizer can therefore see that they are handed over; Qt itself is not built for it.
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
