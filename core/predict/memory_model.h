#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/predict/peak_predictor.h"
#include "core/telemetry/trace.h"

namespace batchscope::predict {

/// Predicts the memory of an optimizer step at any batch size from allocation traces at two batch sizes.
///
/// Each block of the larger trace is matched with its counterpart in the smaller one; its size at another batch is the
/// straight line through the two sizes, or in proportion to the square of the batch if these are. Replaying the larger
/// trace with these sizes gives the peak of that batch, wherever in the step it occurs. Blocks without a counterpart
/// keep their size. Immutable; any thread.
class MemoryModel final : public PeakPredictor {
public:
  /// Requires `small.batch < large.batch`.
  MemoryModel(const telemetry::Trace& small, const telemetry::Trace& large);

  /// The breakdown of a trace at its own batch.
  static Peak peak_of(const telemetry::Trace& trace);

  Peak peak(std::int64_t batch) const override;
  std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const override;
  const MemoryModel& model() const override { return *this; }
  /// largest_within() for micro batches after the first one of their step (Peak::onto_gradients).
  std::int64_t largest_onto_gradients_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const;
  /// Share (0..1) of the larger trace's bytes without a counterpart: how poor the match is.
  double unmatched() const { return unmatched_; }
  /// If more than half of the bytes have no counterpart, the model predicts nothing.
  bool usable() const { return unmatched_ <= 0.5; }

private:
  /// Sizes are the trace's at every batch.
  explicit MemoryModel(const telemetry::Trace& trace);

  struct Step {
    std::uint32_t block;
    bool allocates;
    telemetry::Phase phase;
    telemetry::Use use;
    double bytes_at_large; ///< requested; or counted, if the block is older than the trace
    double bytes_per_example;
    bool by_square; ///< the size is in proportion to the square of the batch
  };

  /// The bytes of a block as they are counted.
  std::uint64_t counted(std::uint64_t bytes) const { return (bytes + granularity_ - 1) / granularity_ * granularity_; }
  std::uint64_t size_at(const Step& step, std::int64_t batch) const;
  std::uint64_t all_gradients(std::int64_t batch) const;

  std::vector<Step> steps_;
  std::uint64_t start_bytes_;
  std::array<std::uint64_t, telemetry::use_count> start_by_;
  std::int64_t large_batch_;
  std::uint64_t granularity_;
  std::uint32_t blocks_ = 0;
  double unmatched_ = 0;
};

} // namespace batchscope::predict
