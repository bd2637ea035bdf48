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

/// What fits into memory that need not be here, computed.
struct CardFit {
  run::Forecast forecast; ///< as `cpu` counts; for a card without the workspace of kernels. Its budget is the target
  std::optional<std::int64_t> largest; ///< nothing if not even one example fits
  std::optional<std::int64_t> safe;    ///< the same with the spec's margin left free
  /// Of a card: what the allocator reserves for the largest batch, or for one example if none fits. Nothing for a size,
  /// and if this torch was built without CUDA; then sizes and cards are treated alike.
  std::optional<predict::Reserve> reserve;
  std::int64_t batch = 1;      ///< the spec's, or 1 if a search is to choose it
  std::vector<Saving> savings; ///< at that batch; of a transformer
};

/// Takes a fraction of a second. Throws what forecast() and reserve() throw; not if torch was built without CUDA.
CardFit fit_into(const run::RunSpec& spec, const Target& target, data::DataPool& pool);

} // namespace batchscope::estimate
