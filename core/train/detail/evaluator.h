#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/run/session.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/memory_shortage.h"

namespace batchscope::train {

/// Scores the validation examples in batches of its own, which shrink where memory asks for it; training's never do.
class Evaluator {
public:
  /// Told when an evaluation batch did not fit: tried, then used instead, and what the device said.
  using OnShrink = std::function<void(std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& refusal)>;

  Evaluator(Learner& learner, OnShrink on_shrink) : learner_(learner), on_shrink_(std::move(on_shrink)) {}

  /// Mean loss and accuracy over all validation examples; nothing where none are held out. `batch` is a size that is
  /// thought to fit. `stop` is asked between batches; true gives nothing. Throws Error (failed) where not even one
  /// example fits.
  std::optional<run::Validation> run(std::int64_t batch, const std::function<bool()>& stop);

private:
  Learner& learner_;
  OnShrink on_shrink_;
  std::int64_t largest_ = INT64_MAX; ///< that is not known not to fit
  MemoryShortage shortage_;          ///< that largest_ is of
};

} // namespace batchscope::train
