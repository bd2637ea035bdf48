#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimate/formula.h"
#include "core/run/memory_prediction.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// The memory of a training run after one change.
struct Saving {
  std::string name;  ///< `checkpointing`, `mixed`, `adam8bit`, `lora`, `half-sequence`
  std::string title; ///< display name
  double total_bytes = 0;
  std::int64_t max_batch = 0; ///< 0: not even one example fits
  bool by_formula = true;     ///< false: by a dry run
};

/// Memory of a training run by a dry run, bytes.
struct MemoryParts {
  double model = 0;       ///< parameters, gradients and optimizer state
  double per_example = 0; ///< what each example of a large batch adds
};
MemoryParts memory_parts(const run::MemoryPrediction& prediction);

/// One of the changes that this program can train, so that dry runs say what it saves.
struct TrainedSaving {
  std::string name, title; ///< of the Saving
  run::RunSpec spec;       ///< with the change
};
/// Without those that the run has already.
std::vector<TrainedSaving> trained_savings(const run::RunSpec& spec);

/// The usual changes that make a transformer fit, without those that are made already. By formula; with `known`, its
/// two parts times the ratio by which the formula changes them.
std::vector<Saving> savings(const Transformer& model, const Training& training, double usable_bytes,
                            const std::optional<MemoryParts>& known);

} // namespace batchscope::estimate
