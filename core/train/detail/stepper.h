#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/memory_model.h"
#include "core/train/detail/known_sizes.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/memory_shortage.h"

namespace batchscope::train {

/// A step that ran out of memory, and what was done about it.
struct OutOfMemory {
  std::int64_t attempted = 0; ///< examples of the micro batch that did not fit
  std::int64_t length = 0;    ///< and its longest example
  memory::OutOfMemoryInfo refusal;
  std::int64_t nominal = 0;        ///< largest nominal micro batch of the window
  std::int64_t parts_before = 0;   ///< micro batches that the window was tried as
  std::int64_t parts_after = 0;    ///< and is tried as next; equal where nothing more can be done
  std::int64_t largest_after = 0;  ///< examples of the largest of them
  std::int64_t examples_again = 0; ///< of the whole step: its effective batch
  std::int64_t largest_before = 0; ///< examples of the largest micro batch that the window was tried as
  std::int64_t accumulate = 0;     ///< nominal micro batches of the window
};

/// What running the gradients of one step came to.
struct StepOutcome {
  bool ready = false; ///< gradients are there; else memory did not do, and `failure` says why
  double loss = 0;
  double grad_norm = 0;
  std::int64_t tokens = 0;
  std::int64_t largest_micro = 0;
  std::int64_t longest = 0; ///< longest example of the step; 1 where examples have no length
  std::int64_t micro_batches = 0;
  std::vector<OutOfMemory> out_of_memory; ///< in order
  std::string failure;
};

/// Runs windows of nominal micro batches, in smaller pieces where memory asks for it: the same examples, the same
/// mean over all of them, so that nobody above notices. The size of the pieces is predicted from two small probes, made
/// in the step that runs out of memory. What was learnt is kept until memory comes back.
class Stepper {
public:
  Stepper(Learner& learner, run::OnOom on_oom) : learner_(learner), on_oom_(on_oom) {}

  StepOutcome run(const std::vector<MicroBatch>& nominal);

private:
  std::vector<MicroBatch> split(const std::vector<MicroBatch>& nominal) const;
  void predict_parts(const Attempt& failed);
  std::optional<predict::MemoryModel> probe(MicroBatch failed);

  Learner& learner_;
  run::OnOom on_oom_;
  KnownSizes known_;
  MemoryShortage shortage_;
};

} // namespace batchscope::train
