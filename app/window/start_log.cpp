#include "app/window/start_log.h"

#include <ctime>
#include <utility>

#include <QCoreApplication>
#include <QEvent>
#include <QFile>
#include <QLoggingCategory>
#include <QWidget>

#include <unistd.h>

namespace batchscope::window {

namespace {

Q_LOGGING_CATEGORY(start, "batchscope.start", QtWarningMsg)

/// Since this process began.
double milliseconds() {
  QFile stat(QStringLiteral("/proc/self/stat"));
  if (!stat.open(QIODevice::ReadOnly))
    return 0;
  // The program's name, in brackets, may hold anything; the time is the 20th field after it.
  const QByteArray text = stat.readAll();
  const double ticks = text.mid(text.lastIndexOf(')') + 2).split(' ').value(19).toDouble();
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double began = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - began) * 1e3;
}

class FirstPaint : public QObject {
public:
  FirstPaint(QObject* window, std::function<void()> then) : QObject(window), then_(std::move(then)) {}

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Paint) {
      watched->removeEventFilter(this);
      // After the paint that begins now.
      QCoreApplication::postEvent(this, new QEvent(QEvent::User));
    }
    return false;
  }

protected:
  void customEvent(QEvent* /*event*/) override {
    qCDebug(start, "painted after %.0f ms", milliseconds());
    then_();
    deleteLater();
  }

private:
  std::function<void()> then_;
};

} // namespace

void at_first_paint(QWidget& window, std::function<void()> then) {
  qCDebug(start, "window made after %.0f ms", milliseconds());
  window.installEventFilter(new FirstPaint(&window, std::move(then)));
}

} // namespace batchscope::window
