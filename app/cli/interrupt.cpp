#include "app/cli/interrupt.h"

#include <atomic>

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

} // namespace

InterruptGuard::InterruptGuard(train::RunControl& control) {
  interrupted_job = &control;
  for (std::size_t i = 0; i < caught.size(); ++i) {
    sigaction(caught[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN)
      continue;
    struct sigaction action {};
    action.sa_handler = caught[i] == SIGPIPE ? SIG_IGN : on_interrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(caught[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < caught.size(); ++i)
    sigaction(caught[i], &before_[i], nullptr);
  interrupted_job = nullptr;
}

} // namespace batchscope::cli
