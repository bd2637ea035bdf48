#pragma once

#include <cstdint>
#include <vector>

#include "core/data/step_order.h"
#include "core/train/detail/learner.h"

namespace batchscope::train {

/// The examples of one optimizer step, split into the micro batches of a rank.
class Window {
public:
  /// Sets the examples of `takes`, of one rank.
  void fill(const data::StepTakes& takes, data::StepOrder& order);

  const std::vector<MicroBatch>& micro_batches() const { return micro_batches_; }
  std::vector<std::int64_t>& indices() { return indices_; }

private:
  std::vector<std::int64_t> indices_;
  std::vector<MicroBatch> micro_batches_; ///< views into indices_
};

} // namespace batchscope::train
