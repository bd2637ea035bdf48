#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/telemetry/record.h"
#include "core/telemetry/run_clock.h"

namespace batchscope::telemetry {

enum class RunStatus { queued, running, finished, stopped, failed, interrupted };
std::string to_string(RunStatus status);
std::vector<std::string> status_names(); ///< of all
/// Nothing for an unknown text.
std::optional<RunStatus> status_from(const std::string& text);
/// Queued or running.
bool is_open(RunStatus status);

/// How far a run has come and, once it has ended, its result. Doubles may be NaN or infinite. What is marked so is 0
/// where it is not known: before the first step, and of a program that does not say it.
struct RunOutcome {
  RunStatus status = RunStatus::running;
  std::string reason;                ///< of a failed run
  std::optional<std::int64_t> batch; ///< first nominal batch
  std::int64_t steps = 0;
  std::int64_t examples_seen = 0; ///< 0: not known
  double epoch = 0;               ///< 0: not known
  double train_coverage = 0;      ///< 0: not known
  std::int64_t oom_events = 0;
  std::optional<double> loss; ///< of the last step
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy; ///< 0..1; nothing if the target is a number
  std::uint64_t peak_bytes = 0;              ///< 0: not known
  double seconds = 0;                        ///< see RunClock
  double examples_per_second = 0;            ///< see RunClock; 0: not known
  std::optional<double> disturbed;           ///< fraction of the time that other work took, see RunClock; 0..1
};

/// A run's outcome so far, from what it reports: the loop and the store use it, so they agree. One thread at a time.
class RunProgress {
public:
  explicit RunProgress(RunStatus status = RunStatus::running, std::optional<std::int64_t> batch = std::nullopt);
  explicit RunProgress(RunOutcome outcome, const RunClock& clock = {}) : outcome_(std::move(outcome)), clock_(clock) {}

  void take(const StepRecord& record);
  void take(const Event& event);
  const RunOutcome& outcome() const { return outcome_; }
  const RunClock& clock() const { return clock_; }

private:
  void take_time();

  RunOutcome outcome_;
  RunClock clock_;
};

} // namespace batchscope::telemetry
