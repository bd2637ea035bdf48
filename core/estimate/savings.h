#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimate/formula.h"
#include "core/run/forecast.h"

namespace batchscope::estimate {

/// What a change of the training, one alone, would make of its memory.
struct Saving {
  std::string name;  ///< `checkpointing`, `mixed`, `adam8bit`, `lora`, `half-sequence`
  std::string title; ///< as people call it
  double total_bytes = 0;
  std::int64_t max_batch = 0; ///< 0: not even one example fits
};

/// Memory of a training as a dry run has it, bytes.
struct KnownMemory {
  double model = 0;       ///< parameters, gradients and optimizer state
  double per_example = 0; ///< what each example of a large batch adds
};
KnownMemory known_memory(const run::Forecast& forecast);

/// The changes that people make to fit a transformer, without those that are made already. By formula; with `known`,
/// its two parts scaled by what the formula says of them.
std::vector<Saving> savings(const Transformer& model, const Training& training, double usable_bytes,
                            const std::optional<KnownMemory>& known);

} // namespace batchscope::estimate
