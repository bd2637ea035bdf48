#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sampler.h"
#include "core/train/detail/learner.h"

namespace batchscope::train {

/// The examples of one optimizer step, split into the micro batches of a rank.
class Window {
public:
  /// Sets the examples of `takes` for `rank`, in the epoch's order.
  void fill(const data::StepTakes& takes, const data::EpochOrder& order, std::int64_t rank = 0);

  const std::vector<MicroBatch>& micro_batches() const { return micro_batches_; }
  std::vector<std::int64_t>& indices() { return indices_; }

private:
  std::vector<std::int64_t> indices_;
  std::vector<MicroBatch> micro_batches_; ///< views into indices_
};

} // namespace batchscope::train
