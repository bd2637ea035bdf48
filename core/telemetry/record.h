#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/telemetry/events.h"

namespace batchscope::telemetry {

/// One optimizer step, as the training loop reports it. A plain value, copied across threads. For the terms see the
/// glossary in CONTRIBUTING.md. A program may not say everything: a number of examples, passes or bytes that is 0, a
/// negative epoch_index or device_bytes, and a real number that is NaN are not known (a loss and a gradient norm may
/// really be NaN).
struct StepRecord {
  std::int64_t step = 0;            ///< optimizer steps done, including this one; the first is 1
  std::int64_t examples_seen = 0;   ///< in the whole run, after this step
  std::int64_t epoch_index = 0;     ///< 0-based epoch that the step's examples are from
  double epoch = 0;                 ///< examples_seen / N
  double train_coverage = 0;        ///< examples seen in this epoch / N, after this step; 0..1
  std::int64_t batch = 0;           ///< nominal batch of the schedule: examples per rank and accumulation step
  std::int64_t micro_batch = 0;     ///< largest micro batch that was run
  std::int64_t micro_batches = 0;   ///< forward/backward passes that were run on this rank
  std::int64_t accumulate = 0;      ///< accumulation steps as configured
  std::int64_t effective_batch = 0; ///< examples of the step, over all ranks
  double loss = 0;                  ///< mean over the examples (tokens) of the effective batch; may be NaN or infinite
  double learning_rate = 0;         ///< of this step
  double grad_norm = 0;             ///< L2 norm of all gradients, before clipping
  double seconds = 0;               ///< since the run's start, without pauses
  std::int64_t allocated_bytes = 0; ///< in use after the step
  std::int64_t reserved_bytes = 0;  ///< in use and cached, after the step
  std::int64_t peak_bytes = 0;      ///< highest in use during the step
  std::int64_t device_bytes = -1;   ///< use by all processes as the driver reports it
  /// Whether `loss` is one of this step; else nothing is known of it, and that of the run is the last one that was.
  bool has_loss = true;
  /// Further metrics of this step; each becomes a series of its own. This engine reports none.
  std::vector<std::pair<std::string, double>> more;
};

/// A record of a step of which nothing else is known.
StepRecord unknown_record(std::int64_t step);

/// Names of the series of a StepRecord, in the order of row().
const std::vector<std::string>& step_series();

/// Whether NaN in this series of step_series() means that the value is not known.
bool nan_is_unknown(const std::string& series);

/// Writes the values of a record in the order of step_series(), without `more`: integers are exact up to 2^53, and NaN
/// if they are not known.
void row(const StepRecord& record, std::vector<double>& values);

/// Known values of a step, by the names of the series, `more` included; without numbers that are NaN.
std::vector<std::pair<std::string, double>> known_values(const StepRecord& record);

/// The inverse of row(): sets the value of step_series()[index]. An integer field stays unchanged if the value is not a
/// 64-bit integer.
void set(StepRecord& record, std::size_t index, double value);

/// Receives what a run reports. Called on the training loop's thread; must return at once and never throw.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void record(const StepRecord& record) = 0;
  virtual void event(Event event) = 0;
};

} // namespace batchscope::telemetry
