#include "core/search/run_search.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/search/detail/stop.h"
#include "core/search/throughput.h"

namespace batchscope::search {

namespace {

/// Maximum number of trials to determine the safe size, besides the strategy's own.
constexpr int safe_runs = 3;
/// Fraction of its limit by which the memory of the safe size may be smaller: then it is not looked for any further.
constexpr double near_enough = 0.03;
/// Sizes that are tried in the place of one that fails for another reason than memory.
constexpr int most_in_its_place = 2;

/// A size and its peak.
struct Measured {
  std::int64_t batch = 0;
  double peak = 0;
};

/// Probes on both sides of a limit in bytes: the smallest size above it, and the largest of those below it that is
/// smaller. (Steps of one size may take different memory.)
struct Bracket {
  Measured below;
  Measured above; ///< without a peak if no such size is known: then it is the first that cannot be run
};

template <typename Take> void for_each_run(const SearchResult& result, Take take) {
  for (const auto* runs : {&result.probes, &result.checks})
    for (const Probe& probe : *runs)
      take(probe);
}

/// Memory of the budget that a size takes: more than its tensors, if the allocator is known to have left some of it
/// unused. The prediction is all that is known of a size that ran without its peak being measured.
std::optional<Measured> measured(const Probe& probe) {
  const auto tensors = probe.peak_bytes ? probe.peak_bytes : probe.predicted_bytes;
  const auto peak = std::max(tensors, probe.reserved_bytes);
  return probe.outcome == Outcome::fits && peak ? std::optional(Measured{probe.batch, static_cast<double>(*peak)})
                                                : std::nullopt;
}

Bracket bracket_of(const SearchResult& result, double limit) {
  Bracket bracket{.below = {}, .above = {*result.largest + 1, 0}};
  for_each_run(result, [&](const Probe& probe) {
    const auto fitted = measured(probe);
    if (probe.batch < bracket.above.batch && (fitted ? fitted->peak > limit : probe.outcome == Outcome::out_of_memory))
      bracket.above = fitted.value_or(Measured{probe.batch, 0});
  });
  for_each_run(result, [&](const Probe& probe) {
    if (const auto fitted = measured(probe);
        fitted && fitted->batch > bracket.below.batch && fitted->batch < bracket.above.batch)
      bracket.below = *fitted;
  });
  return bracket;
}

/// A size that ran out of memory although the largest one is not smaller.
std::optional<std::int64_t> failed_below_largest(const SearchResult& result) {
  std::optional<std::int64_t> failed;
  for_each_run(result, [&](const Probe& probe) {
    if (probe.outcome == Outcome::out_of_memory && result.largest && probe.batch <= *result.largest)
      failed = std::min(failed.value_or(probe.batch), probe.batch);
  });
  return failed;
}

/// The last size from `low` to below `high` whose predicted peak is within the limit; `low` counts as such.
std::int64_t last_predicted_within(const Finder& finder, std::int64_t low, std::int64_t high, double limit) {
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto peak = finder.predict(middle);
    (peak && static_cast<double>(*peak) <= limit ? low : high) = middle;
  }
  return low;
}

/// A size strictly inside the bracket that is expected to stay within the limit, the largest such one as far as that is
/// known; 0 if there is none. `misses`: earlier guesses that did not stay within it. Each makes the next one smaller,
/// as guesses could all miss on the same side.
std::int64_t guess_within(const Finder& finder, const Bracket& bracket, double limit, int misses) {
  const auto [below, above] = bracket;
  if (above.batch - below.batch <= 1)
    return 0;
  if (finder.predict(below.batch + 1)) {
    if (const auto predicted = finder.predict(above.batch); predicted && above.peak > limit)
      limit *= std::min(1.0, static_cast<double>(*predicted) / above.peak);
    const std::int64_t last = last_predicted_within(finder, below.batch, above.batch, limit);
    const double kept = std::pow(0.75, std::max(0, misses - 1)); // the first miss is in `limit`
    const auto step = static_cast<std::int64_t>(kept * static_cast<double>(last - below.batch));
    return step == 0 ? 0 : below.batch + step;
  }
  // Peaks grow about linearly between two sizes; below the smallest measured size nothing is known.
  const double fraction =
      below.batch == 0 || above.peak <= limit ? 0.5 : (limit - below.peak) / (above.peak - below.peak);
  const auto step =
      static_cast<std::int64_t>(fraction * std::pow(0.8, misses) * static_cast<double>(above.batch - below.batch));
  return std::clamp(below.batch + step, below.batch + 1, above.batch - 1);
}

bool has_run(const SearchResult& result, std::int64_t batch) {
  bool found = false;
  for_each_run(result, [&](const Probe& probe) { found = found || probe.batch == batch; });
  return found;
}

/// Runs a size, or a slightly smaller one if that fails for another reason than memory: such a size is no answer,
/// whatever it needs. (Batch norm and a tail of one example, say.)
Probe run_or_smaller(Trial& trial, Proposal proposal, SearchResult& result) {
  std::vector<Probe> failed;
  const std::size_t most = result.probes.empty() ? 1 : most_in_its_place;
  while (true) {
    Probe probe = trial.run(proposal);
    if (probe.outcome != Outcome::error) {
      for (const Probe& other : failed)
        result.left_out.push_back({other.batch, other.message});
      return probe;
    }
    failed.push_back(std::move(probe));
    --proposal.batch;
    if (failed.size() > most || proposal.batch < 1 || has_run(result, proposal.batch))
      return failed.front(); // it fails with every size, or there is none between it and one that was run
  }
}

/// The safe size must have been run, too: approaches it with a few more trials.
void settle_safe_size(const Finder& finder, Trial& trial, SearchResult& result, double margin,
                      const std::function<void(const Probe&)>& on_probe) {
  if (!result.largest || !result.budget_bytes)
    return;
  const double limit = static_cast<double>(*result.budget_bytes) * (1 - margin);
  int misses = 0;
  for (int i = 0; i < safe_runs; ++i) {
    const Bracket bracket = bracket_of(result, limit);
    // The largest size is within the limit already.
    if (bracket.below.batch == *result.largest || bracket.below.peak >= (1 - near_enough) * limit)
      return;
    const std::int64_t batch = guess_within(finder, bracket, limit, misses);
    if (batch == 0)
      return;
    const Probe& check =
        result.checks.emplace_back(run_or_smaller(trial, {batch, false, finder.predict(batch)}, result));
    if (on_probe)
      on_probe(check);
    // An error says nothing about the limit, so the same size would be tried again.
    if (check.outcome == Outcome::error)
      return;
    const auto took = measured(check);
    if (check.outcome == Outcome::out_of_memory || (took && took->peak > limit))
      ++misses;
  }
}

/// The curve from all trials.
void settle_memory(SearchResult& result, const FinderOptions& options) {
  std::vector<Probe> runs = result.probes;
  runs.insert(runs.end(), result.checks.begin(), result.checks.end());
  result.memory =
      options.memory ? curve_of(options.memory->model(), runs, options.max_batch) : curve_of(runs, options.max_batch);
}

std::optional<std::int64_t> largest_that_fitted(const std::vector<Probe>& probes) {
  std::optional<std::int64_t> largest;
  for (const Probe& probe : probes)
    if (probe.outcome == Outcome::fits)
      largest = std::max(largest.value_or(0), probe.batch);
  return largest;
}

std::string reason_of_stop(const SearchResult& result) {
  if (result.found)
    return "the search was stopped before the safe size was found";
  return result.largest ? fmt::format("the search was stopped; the largest size that fitted so far is {}",
                                      format_count(*result.largest))
                        : "the search was stopped; no size had fitted so far";
}

std::string left_out(const SearchResult& result) {
  std::vector<std::string> sizes;
  for (const LeftOut& each : result.left_out)
    sizes.push_back(fmt::format("batch size {} is left out: {}", format_count(each.batch), each.why));
  return fmt::format("{}", fmt::join(sizes, "; "));
}

/// Why a successful search ended early.
std::string reason_of_end(const SearchResult& result) {
  if (const Probe& last = result.probes.back(); last.outcome == Outcome::error)
    return fmt::format("the search ended early, because batch size {} failed: {}", last.batch, last.message);
  if (!result.checks.empty() && result.checks.back().outcome == Outcome::error)
    return fmt::format("the safe size is unknown, because batch size {} failed: {}", result.checks.back().batch,
                       result.checks.back().message);
  if (const auto failed = failed_below_largest(result))
    return fmt::format(
        "batch size {} ran out of memory although {} fitted: memory varies between steps of the same size",
        format_count(*failed), format_count(*result.largest));
  return {};
}

std::string reason_of(const SearchResult& result) {
  if (result.interrupted)
    return reason_of_stop(result);
  if (result.found)
    return reason_of_end(result);
  if (result.probes.empty())
    return "no batch size was tried";
  const Probe& last = result.probes.back();
  if (last.outcome == Outcome::error)
    return fmt::format("batch size {} failed: {}", last.batch, last.message);
  const auto smallest = std::min_element(result.probes.begin(), result.probes.end(),
                                         [](const Probe& a, const Probe& b) { return a.batch < b.batch; });
  const std::string what =
      smallest->batch == 1 ? "even one example" : fmt::format("even batch size {}", format_count(smallest->batch));
  if (result.budget_bytes)
    return fmt::format("{} does not fit in {}; raise the memory budget or choose a smaller model", what,
                       format_bytes(*result.budget_bytes));
  return what + " does not fit";
}

} // namespace

SearchResult run_search(Finder& finder, Trial& trial, const FinderOptions& options,
                        const std::function<void(const Probe&)>& on_probe, const std::function<bool()>& stop) {
  SearchResult result;
  result.strategy = finder.name();
  result.budget_bytes = options.budget_bytes;
  const bool through = unless_stopped(stop, [&] {
    while (const auto proposal = finder.propose()) {
      Probe probe = run_or_smaller(trial, *proposal, result);
      finder.tell(probe);
      if (on_probe)
        on_probe(probe);
      result.probes.push_back(std::move(probe));
    }
  });
  result.interrupted = !through;
  result.largest = through ? finder.largest() : largest_that_fitted(result.probes);
  result.largest_is_exact = through && finder.largest_is_exact();
  result.found = through && result.largest.has_value();
  if (through) {
    result.interrupted =
        !unless_stopped(stop, [&] { settle_safe_size(finder, trial, result, options.margin, on_probe); });
    settle_memory(result, options);
    result.largest_is_exact = result.largest_is_exact && !failed_below_largest(result);
    result.safe = safe_size(result, options.margin);
  }
  for (Probe& probe : result.probes) // they are large and not needed any more
    probe.trace.reset();
  result.reason = reason_of(result);
  if (!result.left_out.empty())
    add_reason(result, left_out(result));
  return result;
}

std::optional<std::int64_t> safe_size(const SearchResult& result, double margin) {
  if (!result.largest)
    return std::nullopt;
  if (!result.budget_bytes)
    return safe_without_memory(*result.largest, margin);
  const double limit = static_cast<double>(*result.budget_bytes) * (1 - margin);
  const std::int64_t safe = bracket_of(result, limit).below.batch;
  return safe > 0 ? std::optional(safe) : std::nullopt;
}

} // namespace batchscope::search
