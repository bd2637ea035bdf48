#pragma once

#include <vector>

#include "core/advice/lint.h"

namespace batchscope::advice::detail {

/// Whether two runs differ in nothing but what rest_of() leaves out.
bool comparable(const RunFacts& a, const RunFacts& b);

/// Returns the comparable siblings with a smaller effective batch than the run's; of these, only those with the
/// smallest.
std::vector<const RunFacts*> smallest_batch(const JudgedRun& judged);

/// Examples of one step that fit the run's budget, less 20 %, as its memory prediction says, or else its peak.
bool fits(const RunFacts& run, std::int64_t micro_batch);

/// Forward and backward passes of one step on each rank.
std::int64_t micro_batches(const RunFacts& run);

/// The part of a step of so many examples that each rank takes, at least 1.
std::int64_t per_rank(const RunFacts& run, std::int64_t examples);

} // namespace batchscope::advice::detail
