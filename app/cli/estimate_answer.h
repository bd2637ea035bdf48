#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/cli/context.h"
#include "core/base/json.h"
#include "core/estimate/cards.h"
#include "core/estimate/formula.h"
#include "core/estimate/growth.h"
#include "core/estimate/savings.h"
#include "core/run/memory_prediction.h"

namespace batchscope::cli {

/// Parts of the answer of `estimate`, as scripts read them.
Json json_of(const estimate::Estimate& estimate, std::optional<std::int64_t> max_batch);
Json json_of(const estimate::Target& target);
/// Changes that would affect the answer, at a batch size.
Json room_json(std::int64_t batch, const std::vector<estimate::Growth>& growth,
               const std::vector<estimate::Saving>& savings);
/// Answer of a dry run with this batch.
Json json_of(const run::MemoryPrediction& prediction, std::int64_t batch, std::optional<std::int64_t> max_batch);

/// Adds the answers by formula and by rule of thumb; by formula is the main one if `main`, else one beside it.
void add_formulas(Json& answer, const estimate::Transformer& model, const estimate::Training& training,
                  const std::optional<estimate::Target>& target, bool main);

/// Sets `error` of all totals in the answer: their relative difference from what was measured.
void add_measured(Json& answer, std::uint64_t measured_bytes);

/// As JSON, or as text: the answers beside each other, one row each, and what would change them.
void print_answer(const Json& answer, std::int64_t batch, const std::optional<estimate::Target>& target,
                  const Context& context);

} // namespace batchscope::cli
