#include "core/search/run_search.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"

namespace batchscope::search {

namespace {

/// Maximum number of trials to determine the safe size, besides the strategy's own.
constexpr int safe_runs = 3;

/// A size and its peak.
struct Measured {
  std::int64_t batch = 0;
  double peak = 0;
};

/// What the probes show about a limit in bytes: the largest size below it, the smallest above it.
struct Bracket {
  Measured below;
  Measured above{std::numeric_limits<std::int64_t>::max(), 0};
};

Bracket bracket_of(const SearchResult& result, double limit) {
  Bracket bracket;
  for (const auto* runs : {&result.probes, &result.checks}) {
    for (const Probe& probe : *runs) {
      if (probe.outcome != Outcome::fits || !probe.peak_bytes)
        continue;
      const Measured measured{probe.batch, static_cast<double>(*probe.peak_bytes)};
      if (measured.peak <= limit && measured.batch > bracket.below.batch)
        bracket.below = measured;
      if (measured.peak > limit && measured.batch < bracket.above.batch)
        bracket.above = measured;
    }
  }
  return bracket;
}

/// The largest size strictly inside the bracket that is expected to stay within the limit; 0 if there is none.
std::int64_t guess_within(const Finder& finder, const Bracket& bracket, double limit) {
  const auto [below, above] = bracket;
  if (above.batch - below.batch <= 1)
    return 0;
  if (finder.predict(below.batch + 1)) {
    std::int64_t fits = below.batch;
    std::int64_t too_large = above.batch;
    while (too_large - fits > 1) {
      const std::int64_t middle = fits + (too_large - fits) / 2;
      const auto peak = finder.predict(middle);
      (peak && static_cast<double>(*peak) <= limit ? fits : too_large) = middle;
    }
    return fits == below.batch ? 0 : fits;
  }
  // Peaks grow about linearly between two sizes; below the smallest measured size nothing is known.
  const double fraction = below.batch == 0 ? 0.5 : (limit - below.peak) / (above.peak - below.peak);
  const auto step = static_cast<std::int64_t>(fraction * static_cast<double>(above.batch - below.batch));
  return std::clamp(below.batch + step, below.batch + 1, above.batch - 1);
}

/// The safe size must have been run, too: approaches it with a few more trials.
void settle_safe_size(const Finder& finder, Trial& trial, SearchResult& result, double margin,
                      const std::function<void(const Probe&)>& on_probe) {
  if (!result.largest || !result.budget_bytes)
    return;
  const double limit = static_cast<double>(*result.budget_bytes) * (1 - margin);
  for (int i = 0; i < safe_runs; ++i) {
    const Bracket bracket = bracket_of(result, limit);
    // The largest size is within the limit already.
    if (bracket.below.batch == *result.largest)
      return;
    const std::int64_t batch = guess_within(finder, bracket, limit);
    if (batch == 0)
      return;
    const Probe& check = result.checks.emplace_back(trial.run({batch, false, finder.predict(batch)}));
    if (on_probe)
      on_probe(check);
    // A failed size says nothing about the limit, so the same size would be tried again.
    if (check.outcome != Outcome::fits)
      return;
  }
}

/// The curve from all trials. Drops the traces afterwards: they are large and not needed any more.
void settle_memory(SearchResult& result, const FinderOptions& options) {
  std::vector<Probe> runs = result.probes;
  runs.insert(runs.end(), result.checks.begin(), result.checks.end());
  result.memory =
      options.memory ? curve_of(options.memory->model(), runs, options.max_batch) : curve_of(runs, options.max_batch);
  for (Probe& probe : result.probes)
    probe.trace.reset();
}

/// Why a successful search ended early.
std::string reason_of_end(const SearchResult& result) {
  if (const Probe& last = result.probes.back(); last.outcome == Outcome::error)
    return fmt::format("the search ended early, because batch size {} failed: {}", last.batch, last.message);
  if (!result.checks.empty() && result.checks.back().outcome == Outcome::error)
    return fmt::format("the safe size is unknown, because batch size {} failed: {}", result.checks.back().batch,
                       result.checks.back().message);
  return {};
}

std::string reason_of(const SearchResult& result) {
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
                        const std::function<void(const Probe&)>& on_probe) {
  SearchResult result;
  result.strategy = finder.name();
  result.budget_bytes = options.budget_bytes;
  while (const auto proposal = finder.propose()) {
    Probe probe = trial.run(*proposal);
    finder.tell(probe);
    if (on_probe)
      on_probe(probe);
    result.probes.push_back(std::move(probe));
  }
  result.largest = finder.largest();
  result.largest_is_exact = finder.largest_is_exact();
  result.found = result.largest.has_value();
  settle_safe_size(finder, trial, result, options.margin, on_probe);
  settle_memory(result, options);
  result.safe = safe_size(result, options.margin);
  result.reason = reason_of(result);
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
