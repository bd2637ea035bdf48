#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/run_spec.h"

namespace batchscope::sweep {

/// Many runs that differ in batch size, learning rate and seed: every combination, one run each. A plain value.
struct SweepSpec {
  static constexpr std::int64_t most_runs = 100'000;

  run::RunSpec base;
  std::vector<run::BatchChoice> batches; ///< empty: the base's batch
  std::vector<double> learning_rates;    ///< empty: the base's rate
  std::int64_t repeats = 1;              ///< runs of each, with the seeds seed, seed + 1, ...
};

/// Checks the lists, and all that the combinations share; throws Error (input). Whether each combination can run is
/// found when its turn comes: one that cannot is a failed run, not a bad sweep.
void check(const SweepSpec& spec);

/// Every combination, by batch, then learning rate, then repeat; named after what differs.
std::vector<run::RunSpec> combinations(const SweepSpec& spec);

/// JSON like that of a run, where `batch` and `lr` may be lists, and with `repeats`. Reading works like RunSpec's.
std::string to_json(const SweepSpec& spec, int indent = 2);
SweepSpec sweep_spec_from_json(const std::string& text, const SweepSpec& base = {});

} // namespace batchscope::sweep
