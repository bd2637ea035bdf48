#include "app/cli/interrupt.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "app/cli/context.h"

namespace batchscope::cli {

namespace {

// A signal handler has no other way to what it acts on.
std::atomic<train::RunControl*> interrupted_job{nullptr};
static_assert(std::atomic<train::RunControl*>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  train::RunControl* job = interrupted_job.exchange(nullptr);
  if (!job)
    _exit(exit_status::interrupted);
  job->request_stop_from_signal();
}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

} // namespace

InterruptGuard::InterruptGuard(train::RunControl& control) {
  interrupted_job = &control;
  handle(on_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGPIPE, SIG_DFL);
  handle(SIG_DFL);
  interrupted_job = nullptr;
}

} // namespace batchscope::cli
