#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/predict/memory_model.h"

namespace batchscope::predict {

/// The largest batch from `lowest` to `highest` that `serves` accepts, which is usually `highest` or a little less;
/// lowest - 1 if there is none.
std::int64_t largest_served(const std::function<bool(std::int64_t)>& serves, std::int64_t lowest, std::int64_t highest);

/// A model whose device reserves more than is in use: the largest size is one that LibTorch's CUDA caching allocator
/// serves, see reserve(). If this torch was built without CUDA, what is in use decides. One thread.
class ReservedPredictor final : public PeakPredictor {
public:
  /// `held_blocks`: bytes of each block that lives between steps, in the order in which they were allocated. What the
  /// model says is in use beyond them (workspace that a library keeps) is taken as one block more.
  ReservedPredictor(std::shared_ptr<const MemoryModel> model, std::vector<std::uint64_t> held_blocks);

  /// Bytes are those that the allocator counts, with what it leaves unused at the end of a block.
  Peak peak(std::int64_t batch) const override;
  std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const override;
  const MemoryModel& model() const override { return *model_; }

  /// Whether the allocator serves two steps with this batch on a device of `bytes`; true if it cannot be asked.
  bool serves(std::int64_t batch, std::uint64_t bytes) const;

private:
  telemetry::Trace two_steps(std::int64_t batch) const;

  std::shared_ptr<const MemoryModel> model_;
  std::vector<std::uint64_t> held_blocks_;
  mutable std::map<std::int64_t, Peak> peaks_; ///< of the sizes asked for so far
};

} // namespace batchscope::predict
