#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/run/session.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/memory_shortage.h"

namespace batchscope::train {

struct Validation {
  double loss = 0;
  std::optional<double> accuracy; ///< 0..1; nothing if the target is a number
};

/// Computes loss and accuracy on the validation examples, in batches that shrink when memory runs out; the training
/// batch never does.
class Evaluator {
public:
  /// Called when an evaluation batch did not fit: the size tried, the size used next, and the device's state.
  using OnShrink = std::function<void(std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& info)>;

  Evaluator(Learner& learner, OnShrink on_shrink) : learner_(learner), on_shrink_(std::move(on_shrink)) {}

  /// Mean loss and accuracy over all validation examples; nothing if none are held out. `batch` is a size expected to
  /// fit. `stop` is called between batches; true gives nothing. Throws Error (failed) if not even one example fits.
  std::optional<Validation> run(std::int64_t batch, const std::function<bool()>& stop);

  /// State learnt from sizes that do not fit.
  struct State {
    std::int64_t largest = INT64_MAX;
    MemoryShortage shortage;
  };
  State state() const { return {largest_, shortage_}; }
  void restore(const State& state) {
    largest_ = state.largest;
    shortage_ = state.shortage;
  }

private:
  Learner& learner_;
  OnShrink on_shrink_;
  std::int64_t largest_ = INT64_MAX; ///< largest size not known to fail
  MemoryShortage shortage_;          ///< the shortage that limited largest_
};

} // namespace batchscope::train
