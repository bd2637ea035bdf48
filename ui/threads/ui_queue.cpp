#include "ui/threads/ui_queue.h"

#include <QCoreApplication>
#include <QEvent>

#include <utility>

namespace batchscope::ui {

namespace {

constexpr auto posted = QEvent::User;

} // namespace

void UiQueue::post(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(function));
  }
  QCoreApplication::postEvent(this, new QEvent(posted));
}

bool UiQueue::event(QEvent* event) {
  if (event->type() != posted)
    return QObject::event(event);
  std::function<void()> next;
  {
    const std::lock_guard lock(mutex_);
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next(); // may run an event loop of its own, in which the following are called
  return true;
}

} // namespace batchscope::ui
