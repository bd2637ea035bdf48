#include "app/cli/interrupt.h"

#include <atomic>

#include <unistd.h>

#include "app/cli/context.h"

namespace batchscope::cli {

namespace {

// A signal handler has no other way to what it acts on.
std::atomic<run::JobControl*> interrupted_job{nullptr};
std::atomic<run::JobControl*> killed_job{nullptr}; // once it was asked to stop
static_assert(std::atomic<run::JobControl*>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  if (run::JobControl* job = interrupted_job.exchange(nullptr))
    job->stop();
  else if (run::JobControl* stopping = killed_job.exchange(nullptr))
    stopping->kill();
  else
    _exit(exit_status::interrupted);
}

} // namespace

InterruptGuard::InterruptGuard(run::JobControl& control, bool kills) {
  interrupted_job = &control;
  killed_job = kills ? &control : nullptr;
  actions_.emplace(SignalActions::Actions{{SIGINT, on_interrupt}, {SIGTERM, on_interrupt}, {SIGPIPE, SIG_IGN}});
}

InterruptGuard::~InterruptGuard() {
  actions_.reset();
  interrupted_job = nullptr;
  killed_job = nullptr;
}

} // namespace batchscope::cli
