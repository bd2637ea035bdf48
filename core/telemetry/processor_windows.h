#pragma once

#include <string>

#include "core/base/processor_time.h"
#include "core/telemetry/record.h"

namespace batchscope::telemetry {

/// Adds to the records of a training what other work took of its time, for each window of some steps that takes at
/// least half a second: see `disturbed`, `ran_seconds` and `waited_seconds`. One thread.
class ProcessorWindows {
public:
  /// `process`: see thread_times(). The first window begins now.
  explicit ProcessorWindows(std::string process = "self") : watch_(std::move(process)) {}
  /// Adds to the record of a step that has just been made.
  void add_to(StepRecord& record);

private:
  ProcessorWatch watch_;
};

} // namespace batchscope::telemetry
