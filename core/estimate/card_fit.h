#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/data_pool.h"
#include "core/estimate/cards.h"
#include "core/estimate/savings.h"
#include "core/predict/reserve.h"
#include "core/run/forecast.h"

namespace batchscope::estimate {

/// What fits on a GPU or in a given amount of memory, computed from dry runs.
struct CardFit {
  /// Bytes in use, as on `cpu`; for a GPU without the workspace of kernels. Its budget is the target's usable memory.
  run::Forecast forecast;
  std::optional<std::int64_t> largest; ///< nothing if not even one example fits
  std::optional<std::int64_t> safe;    ///< the same with the spec's margin left free
  /// For a GPU: what its allocator reserves for the largest batch, or for one example if none fits. Nothing for an
  /// amount of memory. Nothing for a GPU either if this torch was built without CUDA; bytes in use then decide.
  std::optional<predict::Reserve> reserve;
  std::int64_t batch = 1;      ///< the spec's, or 1 if a search is to choose it
  std::vector<Saving> savings; ///< at that batch; those by formula are of transformers only
};

/// Takes a fraction of a second. Throws what forecast() and reserve() throw; not if torch was built without CUDA.
CardFit fit_into(const run::RunSpec& spec, const Target& target, data::DataPool& pool);

} // namespace batchscope::estimate
