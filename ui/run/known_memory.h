#pragma once

#include <cstdint>
#include <optional>

#include "core/predict/peak_curve.h"
#include "core/train/run_spec.h"
#include "ui/run/workbench.h"

namespace batchscope::ui {

/// What a trial of a size looks at of a spec, the limit included: equal texts where a search asks the same of both.
std::string trials_of(const train::RunSpec& spec);
/// Whether a search asks the same of both: everything that a trial of a size looks at is equal, the limit included.
bool same_trials(const train::RunSpec& a, const train::RunSpec& b);

/// What this sitting knows of a spec's memory, whoever found it out.
struct KnownMemory {
  predict::PeakCurve curve;
  std::uint64_t limit_bytes = 0;
};
/// From the searches, predictions and opened runs of this sitting, the newest first. UI thread.
std::optional<KnownMemory> known_memory(Workbench& workbench, const train::RunSpec& spec);

/// The first batch of a run: the spec's number, else what a search of this sitting answered to what the spec asks for,
/// else the largest size that is foretold to be safe; nothing where none of these is known.
std::optional<std::int64_t> known_batch(Workbench& workbench, const train::RunSpec& spec);

} // namespace batchscope::ui
