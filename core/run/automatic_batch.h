#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/data/sampler.h"
#include "core/run/run_spec.h"
#include "core/search/finder.h"

namespace batchscope::run {

/// `--batch auto` keeps at least this many optimizer steps per epoch; with fewer the model learns hardly anything.
inline constexpr std::int64_t min_steps_in_epoch = 20;

/// The largest batch that leaves at least `min_steps_in_epoch` steps per epoch, at least 1. Accounts for
/// accumulation. An explicit effective batch fixes the number of steps, so then there is no limit.
std::int64_t largest_automatic(const data::SamplerOptions& sampler);

/// The size that a search gives for the choice; nothing if it found none.
std::optional<std::int64_t> answer_to(const BatchChoice& choice, const search::SearchResult& result);

/// Why this size, for display: one sentence without a full stop. `examples` is the number of training examples in an
/// epoch.
std::string reason_for(const RunSpec& spec, const search::SearchResult& result, std::int64_t examples);

} // namespace batchscope::run
