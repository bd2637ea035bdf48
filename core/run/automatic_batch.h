#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/data/sampler.h"
#include "core/run/run_spec.h"
#include "core/search/finder.h"

namespace batchscope::run {

/// `--batch auto` leaves an epoch at least so many optimizer steps: with fewer, hardly anything is learnt.
inline constexpr std::int64_t least_steps_in_epoch = 20;

/// The largest batch with which an epoch has at least `least_steps_in_epoch` steps, at least 1. Accumulation counts. A
/// named effective batch says how many steps there are, whatever the batch, so nothing is held back then.
std::int64_t largest_automatic(const data::SamplerOptions& sampler);

/// What a search answers to the choice; nothing where it found no such size.
std::optional<std::int64_t> answer_to(const BatchChoice& choice, const search::SearchResult& result);

/// Why that is the answer, for people: one sentence without its full stop. `examples` is the size of the data.
std::string reason_for(const RunSpec& spec, const search::SearchResult& result, std::int64_t examples);

} // namespace batchscope::run
