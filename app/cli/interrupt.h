#pragma once

#include <optional>

#include "app/signal_actions.h"
#include "core/run/job_control.h"

namespace batchscope::cli {

/// While it lives, the first Ctrl-C (or SIGTERM) asks the job to stop at its next step boundary and the second one ends
/// the program at once; a reader of the output who goes away ends nothing. One at a time in a process.
class InterruptGuard {
public:
  explicit InterruptGuard(run::JobControl& control);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
  std::optional<SignalActions> actions_;
};

} // namespace batchscope::cli
