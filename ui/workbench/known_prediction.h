#pragma once

#include <cstdint>
#include <optional>

#include "core/predict/peak_curve.h"
#include "core/run/run_spec.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// Memory of a spec, as known in this session of the program from any source.
struct KnownPrediction {
  predict::PeakCurve curve;
  std::uint64_t limit_bytes = 0;
};
/// From the searches, predictions and opened runs of this session, newest first. UI thread.
std::optional<KnownPrediction> known_prediction(Workbench& workbench, const run::RunSpec& spec);

/// The first batch of a run: the spec's number, else the answer of a search of this session to the spec's choice, else
/// the largest size predicted to be safe; nothing if none of these is known.
std::optional<std::int64_t> known_batch(Workbench& workbench, const run::RunSpec& spec);

} // namespace batchscope::ui
