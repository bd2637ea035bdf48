#pragma once

#include <array>
#include <csignal>

#include "core/train/run_control.h"

namespace batchscope::cli {

/// While it lives, the first Ctrl-C (or SIGTERM) asks the job to stop at its next step boundary and the second one ends
/// the program at once; a reader of the output who goes away ends nothing. Signals that were ignored before stay so: a
/// shell starts what runs in the background of a script that way. One at a time in a process.
class InterruptGuard {
public:
  explicit InterruptGuard(train::RunControl& control);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
  static constexpr std::array caught{SIGINT, SIGTERM, SIGPIPE};

  std::array<struct sigaction, caught.size()> before_{};
};

} // namespace batchscope::cli
