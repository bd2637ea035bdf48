#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "core/sweep/variation.h"

namespace batchscope::sweep {

/// Whether runs that are clearly worse than the finished ones end early.
enum class StopWeak { never, median };

/// Runs that differ in some fields: one run per combination of their values. A plain value.
struct SweepSpec {
  static constexpr std::int64_t max_runs = 100'000;
  static constexpr std::int64_t max_grid = 1'000'000; ///< combinations from which conditions and chance choose

  run::RunSpec base;
  std::vector<Variation> vary;        ///< the first varies slowest; each field once
  std::int64_t repeats = 1;           ///< runs per combination, with the seeds seed, seed + 1, ...
  std::string only;                   ///< condition that a combination must meet (filter/condition.h); empty: none
  std::optional<std::int64_t> random; ///< that many combinations, drawn at random; without it all of them
  std::uint64_t random_seed = 1;
  StopWeak stop_weak = StopWeak::never;
  std::string goal;                   ///< what is looked for, see compare::parse_goal(); empty: accuracy
  std::optional<std::int64_t> search; ///< number of the search whose sizes are trained
};

/// Replaces the values of the field, or adds it as the last one that varies.
void set_variation(SweepSpec& spec, Variation variation);

/// Checks the values and what all combinations share; throws Error (input). Whether a single combination can run is
/// found only when it starts: one that cannot is a failed run, not an invalid sweep.
void check(const SweepSpec& spec);

/// All combinations in order, each with its repeats next to each other, named after the values that vary. The same spec
/// always gives the same ones. Throws Error (input) as check() does for what concerns their number.
std::vector<run::RunSpec> combinations(const SweepSpec& spec);

/// JSON like a run's, in which fields that vary have a list of values, or `{"from": 0.0001, "to": 0.1, "scale":
/// "log"}`, and come first in their order; and `repeats`, `only`, `random`, `random_seed`, `stop_weak`, `goal`,
/// `search`. Reading works as for RunSpec.
std::string to_json(const SweepSpec& spec, int indent = 2);
SweepSpec sweep_spec_from_json(const std::string& text, const SweepSpec& base = {});
/// A sweep that this program or another version of it has stored: fields that are not known, also those that vary, are
/// kept in `base.later_json`. Its combinations are known only without any.
SweepSpec stored_sweep_from_json(const std::string& text);

} // namespace batchscope::sweep
