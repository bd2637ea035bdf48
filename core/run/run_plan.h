#pragma once

#include <cstdint>
#include <optional>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/progression.h"

namespace batchscope::run {

/// The course of a run as its spec says, over `examples` training examples on `ranks` with first nominal batch `batch`:
/// what the loop walks and what is drawn before it runs. Automatic warm-up is settled. Throws Error (input).
schedule::ProgressionOptions progression_options(const RunSpec& spec, std::int64_t examples, std::int64_t batch,
                                                 std::int64_t ranks = 1);

/// The same of a run that has begun, with the warm-up that its start says: nothing is walked, however long the plan is.
schedule::ProgressionOptions progression_options(const RunSpec& spec, const RunStart& start, std::int64_t ranks = 1);

/// The same with the steps of the whole run, where they can be known; plans longer than a few million steps are not
/// counted. Walks the plan where the length is not given in steps.
struct RunPlan {
  schedule::ProgressionOptions options;
  std::optional<std::int64_t> steps;
  double steps_foreseen = 0; ///< about, where there are too many to be counted
};
RunPlan plan_run(const RunSpec& spec, std::int64_t examples, std::int64_t batch, std::int64_t ranks = 1);

} // namespace batchscope::run
