#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <optional>

#include "app/signal_actions.h"

namespace batchscope::window {

/// Delivers SIGINT and SIGTERM as a Qt signal in the event loop; a second one ends the program at once. At most one in
/// a process.
class InterruptWatch : public QObject {
  Q_OBJECT

public:
  explicit InterruptWatch(QObject* parent = nullptr);
  ~InterruptWatch() override;

Q_SIGNALS:
  void interrupted();

private:
  struct Pipe {
    int read_end = -1, write_end = -1;
  };
  static Pipe make_pipe();

  Pipe pipe_;
  QSocketNotifier notifier_;
  std::optional<SignalActions> actions_;
};

} // namespace batchscope::window
