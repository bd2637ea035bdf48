#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/data/data_pool.h"
#include "core/run/run_spec.h"
#include "core/store/run_row.h"

namespace batchscope::sweep {

/// Prediction for a run that has not started.
struct RunPrediction {
  std::optional<std::int64_t> batch;       ///< nothing if a search with timings is to choose it
  std::optional<std::uint64_t> peak_bytes; ///< of its first step, by dry run; nothing if that is not possible
  bool fits = true;                        ///< false: not even one example fits, or the whole batch does not
  std::optional<double> seconds;           ///< at most, from the throughput of earlier runs; nothing without any
  std::string problem;                     ///< why it cannot run; empty if nothing is wrong
};

/// The throughput of earlier runs, from which the time of a run follows. A plain value.
class Throughputs {
public:
  Throughputs() = default;
  /// From the finished runs that trained alone.
  explicit Throughputs(const std::vector<store::RunRow>& rows);

  /// Examples per second with this model, data, optimizer and device at this batch: of runs with the same batch the
  /// median; else interpolated in the seconds per step between the nearest batches, or from the nearest one; nothing if
  /// there is no run.
  std::optional<double> examples_per_second(const run::RunSpec& spec, std::int64_t batch) const;

private:
  std::map<std::string, std::map<std::int64_t, std::vector<double>>> rates_; ///< by setting, then batch
};

/// The predictions of runs, in their order. `stop` is called between runs; true ends it, with fewer predictions. Throws
/// nothing for a run that cannot be predicted. Any thread; a few milliseconds for each different memory need.
std::vector<RunPrediction> predict_runs(const std::vector<run::RunSpec>& runs, data::DataPool& pool,
                                        const Throughputs& throughputs, const std::function<bool()>& stop = {});

} // namespace batchscope::sweep
