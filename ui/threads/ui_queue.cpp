#include "ui/threads/ui_queue.h"

#include <QCoreApplication>
#include <QEvent>

#include <memory>
#include <utility>

namespace batchscope::ui {

namespace {

constexpr auto posted = QEvent::User;

} // namespace

// The event, too, is made and read under the mutex, so that it is seen to be handed over.
void UiQueue::post(std::function<void()> function) {
  std::unique_ptr<QEvent> event;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(function));
    event = std::make_unique<QEvent>(posted);
  }
  QCoreApplication::postEvent(this, event.release());
}

bool UiQueue::event(QEvent* event) {
  std::function<void()> next;
  {
    const std::lock_guard lock(mutex_);
    if (event->type() == posted) {
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
  }
  if (!next)
    return QObject::event(event);
  next(); // may run an event loop of its own, in which later ones are called
  return true;
}

} // namespace batchscope::ui
