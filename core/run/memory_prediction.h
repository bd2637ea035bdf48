#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/data/data_pool.h"
#include "core/predict/peak_curve.h"
#include "core/run/engine.h"
#include "core/run/run_spec.h"

namespace batchscope::run {

/// The memory that a run will need, known before anything runs.
struct MemoryPrediction {
  predict::PeakCurve curve; ///< peak of a step against the micro batch, up to max_batch
  /// Peak of a step with the spec's batch, or with the largest that fits (else 1) if a search is to choose it. From a
  /// dry run at this size, not interpolated.
  predict::PeakCurve::Point peak;
  std::int64_t examples = 0;      ///< training examples
  std::int64_t max_batch = 1;     ///< largest size that the spec and the data allow
  std::int64_t parameters = 0;    ///< of the model
  std::uint64_t model_bytes = 0;  ///< weights, buffers and optimizer state
  std::uint64_t budget_bytes = 0; ///< the spec's, else 80 % of the memory that is free now
  bool complete = true;           ///< false: without the workspace of convolutions, which may be a third of the peak
  std::optional<std::int64_t> largest; ///< the largest batch that fits in the budget; nothing if not even one example
  std::optional<std::int64_t> safe;    ///< the same with the spec's margin of the budget left free

  predict::PeakCurve::Point at(std::int64_t batch) const { return batch == peak.batch ? peak : curve.at(batch); }
};

/// Computes it from dry runs on `cpu`; nothing is trained and no memory taken. `pool`: where the data are read, once.
/// Takes some milliseconds; with convolutions of new shapes, a fraction of a second more, unless their workspace is
/// left out (known_only). Throws Error: input (bad spec, bad data), unavailable (the spec's device is a GPU, or an
/// operator of the model has no kernel for dry runs). Any thread.
MemoryPrediction predict_memory(const RunSpec& spec, data::DataPool& pool,
                                Engine::Workspace workspace = Engine::Workspace::learn);

using MakeDryRun =
    std::function<std::unique_ptr<DryRun>(const RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples)>;
/// The same from other dry runs, whatever the spec's device.
MemoryPrediction predict_memory(const RunSpec& spec, data::DataPool& pool, const MakeDryRun& make);

} // namespace batchscope::run
