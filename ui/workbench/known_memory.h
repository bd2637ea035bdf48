#pragma once

#include <cstdint>
#include <optional>

#include "core/predict/peak_curve.h"
#include "core/run/run_spec.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// What this sitting knows of a spec's memory, whoever found it out.
struct KnownMemory {
  predict::PeakCurve curve;
  std::uint64_t limit_bytes = 0;
};
/// From the searches, predictions and opened runs of this sitting, the newest first. UI thread.
std::optional<KnownMemory> known_memory(Workbench& workbench, const run::RunSpec& spec);

/// The first batch of a run: the spec's number, else what a search of this sitting answered to what the spec asks for,
/// else the largest size that is foretold to be safe; nothing where none of these is known.
std::optional<std::int64_t> known_batch(Workbench& workbench, const run::RunSpec& spec);

} // namespace batchscope::ui
