#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/trace.h"
#include "core/train/detail/evaluator.h"
#include "core/train/detail/oom_cause.h"
#include "core/train/detail/stepper.h"

namespace batchscope::train {

/// The state of a run between two steps, besides that of its Learner.
struct LoopState {
  telemetry::RunProgress progress;
  std::string plan; ///< Progression::state_json()
  Stepper::State split;
  Evaluator::State evaluation;
  BeforeOutOfMemory before;
  std::optional<std::uint64_t> changed_budget; ///< if it was changed while the run went on
  std::int64_t largest_micro = 1;
  std::array<std::uint64_t, telemetry::use_count> peak_by{}; ///< as reported last
  std::int64_t evaluated_at = -1;
  std::int64_t evaluated_examples = 0;
  std::optional<double> best_score; ///< of all evaluations so far
  std::int64_t events = 0;          ///< reported so far, without those that only carry values
  double seconds = 0;               ///< since the run's start, without pauses
};

/// Adds it to a checkpoint, as texts.
void save(const LoopState& state, checkpoint::Checkpoint& to);
/// Reads what earlier and later versions wrote: what is missing has its default, what is not known is ignored. Throws
/// Error (input) if the checkpoint's texts cannot be read.
LoopState loop_state(const checkpoint::Checkpoint& checkpoint);

} // namespace batchscope::train
