#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/search/finder.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::sweep {

/// Sizes of a search that are worth training to compare them: its safe, its largest and its recommended size, and at
/// most four powers of two below the safe size (the largest if it has none), equally far apart, the smallest at least 8
/// if the safe size is at least 16. Ascending; empty if nothing was found.
std::vector<std::int64_t> sizes_to_train(const search::SearchResult& result);

/// The sweep that trains the sizes of a search, stored under the number `search`, to see which is best for the goal
/// (compare::parse_goal()), with three seeds each.
///
/// A run for a target ends when it reaches it, and is evaluated each 10 % of an epoch if the spec says nothing else;
/// one for a time ends when that time is over. Unless `keep_length`, the length of the spec is replaced by one that is
/// long enough: 20 epochs for a target; for a time twice the examples that the fastest size trains in it. All have the
/// budget of the search. With a learning rate rule but no reference batch, the spec's learning rate is that of the
/// smallest size. Throws Error (input) for an invalid goal and if the search found nothing.
SweepSpec size_sweep(const run::RunSpec& spec, const search::SearchResult& result, std::int64_t search,
                     const std::string& goal, bool keep_length);

} // namespace batchscope::sweep
