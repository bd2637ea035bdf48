#include "core/telemetry/processor_windows.h"

#include "core/telemetry/run_clock.h"

namespace batchscope::telemetry {

void ProcessorWindows::add_to(StepRecord& record) {
  // The times that the scheduler tells are up to a tick old.
  constexpr double window_seconds = 0.5;
  if (watch_.seconds() < window_seconds)
    return;
  const ProcessorShare share = watch_.share();
  watch_.begin();
  if (share.seconds == 0)
    return;
  record.more.emplace_back(disturbed, share.lost());
  record.more.emplace_back(ran_seconds, share.ran_seconds);
  record.more.emplace_back(waited_seconds, share.waited_seconds);
}

} // namespace batchscope::telemetry
