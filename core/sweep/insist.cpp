#include "core/sweep/insist.h"

#include <chrono>
#include <thread>

namespace batchscope::sweep {

namespace {

/// Before the next attempt. For a lock the store itself has waited by then, but a full disk refuses at once.
constexpr std::chrono::milliseconds pause{100};

} // namespace

void insist(Watch& watch, const train::JobControl& control, const std::function<void()>& work) {
  bool refused = false;
  while (true) {
    try {
      work();
      break;
    } catch (const store::PassingError& error) {
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

} // namespace batchscope::sweep
