#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/telemetry/trace.h"

namespace batchscope::predict {

/// Peak of a step at one batch size, and what filled the memory at that moment.
struct Peak {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, telemetry::use_count>
      by{}; ///< indexed by Use; what was freed that is older than the trace is still in
  /// The peak of a micro batch that finds the gradients of others before it in its step: they are held all the while,
  /// and its own come and go as they are added to them. The same as `bytes` where the traced step had several.
  std::uint64_t onto_gradients = 0;
};

/// Memory of an optimizer step at any batch size, from the allocator's traces at two.
///
/// Every block of the larger trace is matched with its counterpart in the smaller one; its size is then the line
/// through the two. Replaying the larger trace with the sizes of another batch gives that batch's peak, wherever in
/// the step it comes. Blocks without a counterpart keep their size. Immutable; any thread.
class MemoryModel {
public:
  /// `small.batch < large.batch`.
  MemoryModel(const telemetry::Trace& small, const telemetry::Trace& large);

  Peak peak(std::int64_t batch) const;
  /// The largest batch in [lowest, highest] whose predicted peak is within `bytes`, by bisection over replays;
  /// lowest - 1 where none is.
  std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const;
  /// The same for micro batches that are not the first of their step.
  std::int64_t largest_onto_gradients_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const;
  /// Share (0..1) of the larger trace's bytes that found no counterpart: how poor the match is.
  double unmatched() const { return unmatched_; }
  /// Where half of the bytes and more found none, the model says nothing.
  bool usable() const { return unmatched_ <= 0.5; }

private:
  struct Step {
    std::uint32_t block;
    bool allocates;
    telemetry::Phase phase;
    telemetry::Use use;
    double bytes_at_large; ///< asked for, or counted where the block is from before
    double bytes_per_example;
  };

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
