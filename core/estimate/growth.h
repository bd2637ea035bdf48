#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/data_pool.h"
#include "core/estimate/cards.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// How large one dimension of a built-in model may be made, the others unchanged.
struct Growth {
  std::string size; ///< of run::ModelSpec: `layers`, `width`, `context`
  std::int64_t now = 0;
  std::int64_t largest = 0; ///< with which the batch still fits; the model's own bound if that is lower
};

/// Of all dimensions in which the model grows, by dry runs: some tens of them, a fraction of a second, with
/// convolutions of new shapes (of a size, not a card) a few seconds. Empty if the batch does not fit as the model is.
/// Throws what forecast() and reserve() throw.
std::vector<Growth> room_to_grow(const run::RunSpec& spec, const Target& target, std::int64_t batch,
                                 data::DataPool& pool);

} // namespace batchscope::estimate
