#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimate/formula.h"
#include "core/run/forecast.h"

namespace batchscope::estimate {

/// The memory of a training run after one change.
struct Saving {
  std::string name;  ///< `checkpointing`, `mixed`, `adam8bit`, `lora`, `half-sequence`
  std::string title; ///< display name
  double total_bytes = 0;
  std::int64_t max_batch = 0; ///< 0: not even one example fits
};

/// Memory of a training run by a dry run, bytes.
struct KnownMemory {
  double model = 0;       ///< parameters, gradients and optimizer state
  double per_example = 0; ///< what each example of a large batch adds
};
KnownMemory known_memory(const run::Forecast& forecast);

/// The usual changes that make a transformer fit, without those that are made already. By formula; with `known`, its
/// two parts times the ratio by which the formula changes them.
std::vector<Saving> savings(const Transformer& model, const Training& training, double usable_bytes,
                            const std::optional<KnownMemory>& known);

} // namespace batchscope::estimate
