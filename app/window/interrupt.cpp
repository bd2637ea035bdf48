#include "app/window/interrupt.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace batchscope::window {

namespace {

constexpr int interrupted_status = 130;

// A signal handler has no other way to what it acts on.
std::atomic<int> wake_up{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  const int error = errno;
  const int pipe = wake_up.exchange(-1);
  if (pipe < 0)
    _exit(interrupted_status);
  const char byte = 0;
  // A pipe that has just been made has room for it.
  [[maybe_unused]] const ssize_t written = ::write(pipe, &byte, 1);
  errno = error;
}

} // namespace

InterruptWatch::Pipe InterruptWatch::make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot create a pipe for signals");
  return {ends[0], ends[1]};
}

InterruptWatch::InterruptWatch(QObject* parent)
    : QObject(parent), pipe_(make_pipe()), notifier_(pipe_.read_end, QSocketNotifier::Read) {
  connect(&notifier_, &QSocketNotifier::activated, this, [this] {
    notifier_.setEnabled(false);
    Q_EMIT interrupted();
  });
  wake_up = pipe_.write_end;
  actions_.emplace(SignalActions::Actions{{SIGINT, on_interrupt}, {SIGTERM, on_interrupt}});
}

InterruptWatch::~InterruptWatch() {
  actions_.reset();
  wake_up = -1;
  ::close(pipe_.read_end);
  ::close(pipe_.write_end);
}

} // namespace batchscope::window

#include "moc_interrupt.cpp"
