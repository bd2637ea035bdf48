#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/run_spec.h"

namespace batchscope::sweep {

/// Runs that differ in batch size, learning rate and seed: one run per combination. A plain value.
struct SweepSpec {
  static constexpr std::int64_t max_runs = 100'000;

  run::RunSpec base;
  std::vector<run::BatchChoice> batches; ///< empty: the base's batch
  std::vector<double> learning_rates;    ///< empty: the base's learning rate
  std::int64_t repeats = 1;              ///< runs per combination, with the seeds seed, seed + 1, ...
};

/// Checks the lists and what all combinations share; throws Error (input). Whether a single combination can run is
/// found only when it starts: one that cannot is a failed run, not an invalid sweep.
void check(const SweepSpec& spec);

/// All combinations, ordered by batch, then learning rate, then repeat; each is named after the values that vary.
std::vector<run::RunSpec> combinations(const SweepSpec& spec);

/// JSON like a run's, but `batch` and `lr` may be lists, and with `repeats`. Reading works as for RunSpec.
std::string to_json(const SweepSpec& spec, int indent = 2);
SweepSpec sweep_spec_from_json(const std::string& text, const SweepSpec& base = {});

} // namespace batchscope::sweep
