#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <array>
#include <csignal>

namespace batchscope::window {

/// Turns SIGINT and SIGTERM into a signal of the event loop; a second one ends the program at once. What was ignored
/// before stays so: a shell starts what runs in the background of a script that way. One at a time.
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

  static constexpr std::array caught{SIGINT, SIGTERM};

  Pipe pipe_;
  QSocketNotifier notifier_;
  std::array<struct sigaction, caught.size()> before_{};
};

} // namespace batchscope::window
