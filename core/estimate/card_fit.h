#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/data_pool.h"
#include "core/estimate/dry_runs.h"
#include "core/estimate/savings.h"
#include "core/run/card_steps.h"
#include "core/run/memory_prediction.h"

namespace batchscope::estimate {

/// Batch sizes that fit on a GPU or in a given amount of memory, computed from dry runs.
struct CardFit {
  Target target;
  /// Its budget is the target's usable memory. Of a card, bytes in use are counted as its allocator does, and the sizes
  /// are those that it serves.
  run::MemoryPrediction prediction;
  /// Steps on a card with the largest batch, or with one example if none fits. Nothing for an amount of memory.
  std::optional<run::CardSteps> steps;
  /// Why the steps of a card were computed as on `cpu`, without the workspace of kernels; else empty.
  std::string not_on_card;
  std::int64_t batch = 1; ///< the spec's, or 1 if a search is to choose it
};

/// Takes a fraction of a second; for a card a few seconds. Throws what predict_memory() throws.
CardFit fit_into(const run::RunSpec& spec, DryRuns& dry_runs, data::DataPool& pool);

/// Memory of the run after each of the usual changes, at the batch of its fit. By formula, and of transformers only,
/// for changes that cannot be trained here. Takes as long as fit_into() for each change. `stop` is called before each;
/// if it returns true, the rest is left out.
std::vector<Saving> savings_of(const run::RunSpec& spec, const CardFit& fit, DryRuns& dry_runs, data::DataPool& pool,
                               const std::function<bool()>& stop = {});

} // namespace batchscope::estimate
