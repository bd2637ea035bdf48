#include "app/cli/interrupt.h"

#include <atomic>

#include <unistd.h>

#include "app/cli/context.h"

namespace batchscope::cli {

namespace {

// A signal handler has no other way to what it acts on.
std::atomic<run::JobControl*> interrupted_job{nullptr};
static_assert(std::atomic<run::JobControl*>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  run::JobControl* job = interrupted_job.exchange(nullptr);
  if (!job)
    _exit(exit_status::interrupted);
  job->stop();
}

} // namespace

InterruptGuard::InterruptGuard(run::JobControl& control) {
  interrupted_job = &control;
  actions_.emplace(SignalActions::Actions{{SIGINT, on_interrupt}, {SIGTERM, on_interrupt}, {SIGPIPE, SIG_IGN}});
}

InterruptGuard::~InterruptGuard() {
  actions_.reset();
  interrupted_job = nullptr;
}

} // namespace batchscope::cli
