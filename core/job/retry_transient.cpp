#include "core/job/retry_transient.h"

#include <chrono>
#include <thread>

namespace batchscope::job {

namespace {

/// Pause between attempts. For a lock the store itself has waited already, but a full disk fails at once.
constexpr std::chrono::milliseconds pause{100};

} // namespace

void retry_transient(Watch& watch, const run::JobControl& control, const std::function<void()>& work) {
  bool refused = false;
  while (true) {
    try {
      work();
      break;
    } catch (const store::TransientError& error) {
      if (control.stopping())
        throw Error(Error::Kind::failed, error.what());
      if (!refused)
        watch.not_stored(error.what());
      refused = true;
    }
    std::this_thread::sleep_for(pause);
  }
  if (refused)
    watch.not_stored({});
}

} // namespace batchscope::job
