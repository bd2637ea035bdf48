#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/data/data_pool.h"
#include "core/estimate/card_fit.h"
#include "core/run/memory_prediction.h"

namespace batchscope::cli {

/// A built-in model on the user's data, or on data that are made up and take no memory.
struct Subject {
  run::RunSpec spec;
  std::string made_up; ///< the data without their number of examples; empty: the user's

  run::RunSpec with_examples(std::int64_t count) const;
};

/// Answer of a dry run.
struct DryAnswer {
  run::RunSpec spec;
  run::MemoryPrediction prediction;
  std::optional<estimate::CardFit> fit;
  std::int64_t batch = 1;
  Json json;
};

/// `dry_runs`: of a target; nothing without one. `batch`: nothing for the largest that fits the target. Throws Error
/// (input) for a batch above what settings allow.
DryAnswer dry_run(const Subject& subject, std::optional<estimate::DryRuns>& dry_runs, std::optional<std::int64_t> batch,
                  data::DataPool& pool);

/// The peak of two real steps on `cpu`. Throws Error: unavailable if there is too little memory, failed if they fail.
std::uint64_t measure(const Subject& subject, const DryAnswer& dry);

} // namespace batchscope::cli
