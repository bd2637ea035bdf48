#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace batchscope::telemetry {

/// What one optimizer step was, as the training loop reports it. Plain values; copied across threads.
/// Terms as in the glossary of README: nominal batch, accumulation, micro batch, train_coverage.
struct StepRecord {
  std::int64_t step = 0;            ///< optimizer steps done, this one included; the first is 1
  std::int64_t examples_seen = 0;   ///< in the whole run, after this step
  std::int64_t epoch_index = 0;     ///< 0-based epoch this step took its examples from
  double epoch = 0;                 ///< examples_seen / N
  double train_coverage = 0;        ///< examples seen in this epoch / N, after this step, 0..1
  std::int64_t batch = 0;           ///< nominal batch of the schedule, examples per rank and accumulation step
  std::int64_t micro_batch = 0;     ///< largest micro batch really run
  std::int64_t micro_batches = 0;   ///< forward/backward passes really run on this rank
  std::int64_t accumulate = 0;      ///< accumulation steps as configured
  std::int64_t effective_batch = 0; ///< examples in the step, over all ranks
  double loss = 0;                  ///< mean over all examples (tokens) of the effective batch; may be NaN or infinite
  double learning_rate = 0;         ///< used by this step
  double grad_norm = 0;             ///< L2 norm over all gradients, before clipping
  double seconds = 0;               ///< since the run's start, pauses left out
  std::int64_t allocated_bytes = 0; ///< in use after the step
  std::int64_t reserved_bytes = 0;  ///< in use and cached, after the step
  std::int64_t peak_bytes = 0;      ///< highest in use during the step
  std::int64_t device_bytes = -1;   ///< device-wide use as the driver tells; -1 where unknown
  /// Metrics of this step that the engine does not know; each becomes a series of its own. Empty for this engine.
  std::vector<std::pair<std::string, double>> more;
};

/// Something that happened, with its step. `kind` is `oom`, `clamp`, `schedule`, `edit`, `evaluation`, `status`, ...;
/// `detail_json` is one JSON object with the fields that the kind has (an `oom`: attempted_batch, requested_bytes,
/// in_use_bytes, limit_bytes, action, cause, ...).
struct Event {
  /// The step it belongs to: that which was being made, for an `oom` in a step; else the last one done by then.
  std::int64_t step = 0;
  double seconds = 0; ///< since the run's start, pauses left out
  std::string kind;
  std::string detail_json = "{}";
  /// Values that become series of the run, such as validation_loss; empty for most events. A name of step_series()
  /// is taken already, so it is stored as `other.NAME`.
  std::vector<std::pair<std::string, double>> values;
};

/// Names of StepRecord's series in the order in which `row` gives their values.
const std::vector<std::string>& step_series();

/// The values of a record in the order of step_series(), without `more`; integers are exact up to 2^53.
void row(const StepRecord& record, std::vector<double>& values);

/// The way back of row(): sets the value of step_series()[index]. A value that is no whole number of 64 bits leaves a
/// whole number as it was.
void set(StepRecord& record, std::size_t index, double value);

/// Receives what a run reports. Called on the thread that runs the loop; must return at once and never throw.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void record(const StepRecord& record) = 0;
  virtual void event(Event event) = 0;
};

} // namespace batchscope::telemetry
