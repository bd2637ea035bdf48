#include "core/run/automatic_batch.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/search/run_search.h"
#include "core/search/throughput.h"

namespace batchscope::run {

namespace {

/// Steps of an epoch with the spec's accumulation. drop_last drops examples that do not fill a micro batch; a step may
/// have fewer micro batches.
std::int64_t steps_in_epoch(const RunSpec& spec, std::int64_t batch, std::int64_t examples) {
  const std::int64_t tail = !spec.drop_last && examples % batch != 0 ? 1 : 0;
  const std::int64_t micro_batches = examples / batch + tail;
  return micro_batches / spec.accumulate + (micro_batches % spec.accumulate != 0 ? 1 : 0);
}

std::string counted_steps(std::int64_t steps) {
  return steps == 1 ? "1 step" : format_count(steps) + " steps";
}

/// Why the recommended size, or without one the fastest.
std::string why_of(const search::SearchResult& result) {
  return result.recommended ? "recommended: " + search::knee_reason(result.timings, *result.recommended)
                            : "the fastest measured; " + search::doubt_about(result.timings);
}

std::string automatic_reason(const RunSpec& spec, const search::SearchResult& result, std::int64_t examples) {
  const std::string why = result.recommended ? "recommended" : "the fastest measured";
  const std::int64_t size = *search::recommended_or_fastest(result);
  if (*result.automatic == size)
    return why_of(result);
  return fmt::format("{} is {}, but an epoch of {} examples would have only {}; with {} it has {}", why,
                     format_count(size), format_count(examples), counted_steps(steps_in_epoch(spec, size, examples)),
                     format_count(*result.automatic), counted_steps(steps_in_epoch(spec, *result.automatic, examples)));
}

std::optional<std::int64_t> share_of(const BatchChoice& choice, const search::SearchResult& result) {
  if (!result.largest)
    return std::nullopt;
  const double share = std::floor(static_cast<double>(*result.largest) * choice.percent / 100);
  return std::max<std::int64_t>(static_cast<std::int64_t>(share), 1);
}

} // namespace

std::int64_t largest_automatic(const data::SamplerOptions& sampler) {
  if (sampler.effective_batch)
    return *sampler.effective_batch;
  // More than (n - 1) * k micro batches make n steps. There are ceil(N / b) of them with the tail, floor(N / b)
  // without.
  constexpr std::int64_t full = min_steps_in_epoch - 1;
  const std::int64_t examples = data::examples_in_epoch(sampler) / sampler.ranks;
  if (sampler.accumulate >= examples / full)
    return 1;
  const std::int64_t most =
      sampler.drop_last ? examples / (full * sampler.accumulate + 1) : (examples - 1) / (full * sampler.accumulate);
  return std::max<std::int64_t>(most, 1);
}

std::optional<std::int64_t> answer_to(const BatchChoice& choice, const search::SearchResult& result) {
  switch (choice.kind) {
  case BatchChoice::Kind::number:
    return choice.number;
  case BatchChoice::Kind::automatic:
    return result.automatic;
  case BatchChoice::Kind::largest:
    return result.largest;
  case BatchChoice::Kind::share:
    return share_of(choice, result);
  case BatchChoice::Kind::recommended: // a run goes on where the timings do not tell
    return search::recommended_or_fastest(result);
  case BatchChoice::Kind::safe:
    break;
  }
  return result.safe;
}

std::string reason_for(const RunSpec& spec, const search::SearchResult& result, std::int64_t examples) {
  switch (spec.batch.kind) {
  case BatchChoice::Kind::number:
    return {};
  case BatchChoice::Kind::automatic:
    return automatic_reason(spec, result, examples);
  case BatchChoice::Kind::largest:
    return result.largest_is_exact ? "the largest that fits" : "the largest size tried that fits";
  case BatchChoice::Kind::share:
    return fmt::format("{:g} % of the largest that fits, {}", spec.batch.percent, format_count(*result.largest));
  case BatchChoice::Kind::recommended:
    return why_of(result);
  case BatchChoice::Kind::safe:
    break;
  }
  return fmt::format("the largest that leaves {:g} % of the memory free", 100 * spec.margin);
}

} // namespace batchscope::run
