#pragma once

#include <cstdint>
#include <optional>

#include "core/data/dataset.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/progression.h"

namespace batchscope::run {

/// How the spec's run takes its examples. Throws Error (input) for a clock or shares that do not fit the streams.
data::SamplerOptions sampler_options(const RunSpec& spec, const data::ExampleCounts& examples, std::int64_t ranks = 1);

/// The options of a run's Progression, with `examples` training examples on `ranks` ranks and `batch` as first nominal
/// batch. The training loop and the plan both use them. Resolves `--warmup auto`. Throws Error (input).
schedule::ProgressionOptions progression_options(const RunSpec& spec, const data::ExampleCounts& examples,
                                                 std::int64_t batch, std::int64_t ranks = 1);

/// The same for a run that has started, with the warm-up of its RunStart; for a program, with what it has said of
/// itself. Does not walk the plan, so it is fast for any length.
schedule::ProgressionOptions progression_options(const RunSpec& spec, const RunStart& start, std::int64_t ranks = 1);

/// The same with the number of steps of the whole run, if it can be known. Walks the plan unless the length is given in
/// steps; plans longer than a few million steps are not counted.
struct RunPlan {
  schedule::ProgressionOptions options;
  std::optional<std::int64_t> steps;
  double estimated_steps = 0; ///< estimate, for plans too long to count
};
RunPlan plan_run(const RunSpec& spec, const data::ExampleCounts& examples, std::int64_t batch, std::int64_t ranks = 1);

/// The length of a run, for schedule::fraction_done(); unset where its steps do not show how much of it is done: a
/// program has a length of its own; with AdaScale a step counts for its gain, which is 1 for sure only while all steps
/// have the reference batch. `batch` is the first nominal one.
schedule::RunLength countable_length(const RunSpec& spec, std::int64_t batch);

} // namespace batchscope::run
