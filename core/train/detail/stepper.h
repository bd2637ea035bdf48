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

/// An out-of-memory error in a step, and the reaction to it.
struct OutOfMemory {
  std::int64_t attempted = 0; ///< examples of the micro batch that did not fit
  std::int64_t length = 0;    ///< its longest example
  memory::OutOfMemoryInfo info;
  std::int64_t nominal = 0;        ///< largest nominal micro batch of the window
  std::int64_t parts_before = 0;   ///< micro batches of the failed attempt
  std::int64_t parts_after = 0;    ///< of the next attempt; parts_before if no smaller micro batches are possible
  std::int64_t largest_after = 0;  ///< examples of the largest micro batch of the next attempt
  std::int64_t examples_again = 0; ///< of the whole step: its effective batch
  std::int64_t largest_before = 0; ///< examples of the largest micro batch of the failed attempt
  std::int64_t accumulate = 0;     ///< nominal micro batches of the window
  bool growing_back = false;       ///< a larger micro batch was tried than known to fit
};

/// Result of computing the gradients of one step.
struct StepOutcome {
  bool ready = false; ///< gradients are available; if not, `failure` says why
  std::int64_t tokens = 0;
  std::int64_t largest_micro = 0;
  std::int64_t longest = 0; ///< longest example of the step; 1 if examples have no length
  std::int64_t micro_batches = 0;
  std::vector<OutOfMemory> out_of_memory; ///< in order
  std::string failure;
};

/// When larger micro batches are tried than are known to fit (--grow-back): after some steps in a row without an
/// out-of-memory error, and twice as many after each attempt that failed. One thread.
class GrowBack {
public:
  /// Unset: never.
  explicit GrowBack(std::optional<std::int64_t> steps) : steps_(steps), wait_(steps.value_or(0)) {}

  bool due() const { return steps_ && quiet_ >= wait_; }
  void step_fitted() { ++quiet_; }
  void ran_out_of_memory() { quiet_ = 0; }
  void attempt_ended(bool fitted);

  /// For checkpoints.
  struct State {
    std::int64_t quiet = 0, wait = 0;
  };
  State state() const { return {quiet_, wait_}; }
  void restore(const State& state) {
    quiet_ = state.quiet;
    wait_ = state.wait;
  }

private:
  std::optional<std::int64_t> steps_;
  std::int64_t quiet_ = 0; ///< steps in a row without an error
  std::int64_t wait_;      ///< for so many
};

/// Computes the gradients of a window of nominal micro batches, in smaller micro batches if memory requires it: same
/// examples, same mean over all of them, so the result is the same. The size of the smaller micro batches is predicted
/// from two small probes within the step that runs out of memory, and kept until memory is available again.
class Stepper {
public:
  /// `may_halve`: whether a micro batch may be split to measure the gradient noise; not with batch norm, which would
  /// use other statistics.
  Stepper(Learner& learner, run::OnOom on_oom, bool may_halve = true,
          std::optional<std::int64_t> grow_back = std::nullopt)
      : learner_(learner), on_oom_(on_oom), may_halve_(may_halve), grow_back_(grow_back) {}

  /// `measure_noise`: a step of one micro batch is run as two halves, to have gradients of two batch sizes.
  StepOutcome run(const std::vector<MicroBatch>& nominal, bool measure_noise = false);

  /// State learnt from sizes that do not fit.
  struct State {
    KnownSizes known;
    MemoryShortage shortage;
    GrowBack::State grow_back;
  };
  State state() const { return {known_, shortage_, grow_back_.state()}; }
  void restore(const State& state) {
    known_ = state.known;
    shortage_ = state.shortage;
    grow_back_.restore(state.grow_back);
  }

private:
  std::vector<MicroBatch> split(const std::vector<MicroBatch>& nominal, bool growing_back = false) const;
  StepOutcome succeeded(const Attempt& attempt, const std::vector<MicroBatch>& window);
  void predict_parts(const Attempt& failed);
  std::optional<predict::MemoryModel> probe(MicroBatch failed);

  Learner& learner_;
  run::OnOom on_oom_;
  bool may_halve_;
  KnownSizes known_;
  MemoryShortage shortage_;
  GrowBack grow_back_;
};

} // namespace batchscope::train
