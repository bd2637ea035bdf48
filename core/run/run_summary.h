#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace batchscope::run {

struct Validation {
  double loss = 0;
  std::optional<double> accuracy; ///< 0..1; nothing if the target is a number
};

enum class Status { queued, running, finished, stopped, failed, interrupted };
std::string to_string(Status status);
Status status_from(const std::string& text); ///< throws Error (input)

/// The result of a run.
struct RunSummary {
  Status status = Status::finished;
  std::string reason; ///< of a failed run
  std::int64_t steps = 0;
  std::int64_t examples_seen = 0;
  double epoch = 0;
  double train_coverage = 0;
  std::int64_t oom_events = 0;
  double loss = 0;
  std::optional<Validation> validation;
  std::uint64_t peak_bytes = 0;
  double seconds = 0;             ///< see telemetry::RunClock
  double examples_per_second = 0; ///< see telemetry::RunClock
};

} // namespace batchscope::run
