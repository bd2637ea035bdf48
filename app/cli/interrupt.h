#pragma once

#include <optional>

#include "app/signal_actions.h"
#include "core/run/job_control.h"

namespace batchscope::cli {

/// While one exists, the first Ctrl-C (or SIGTERM) asks the job to stop at its next step boundary and the second ends
/// the program at once; a closed output pipe does not end it. With `kills`, for jobs that start programs of the user's
/// own, the second one kills these and the third ends the program. At most one in a process.
class InterruptGuard {
public:
  explicit InterruptGuard(run::JobControl& control, bool kills = false);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
  std::optional<SignalActions> actions_;
};

} // namespace batchscope::cli
