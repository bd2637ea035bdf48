#pragma once

#include <array>
#include <cstdint>

#include "core/telemetry/trace.h"

namespace batchscope::predict {

class MemoryModel;

/// Predicted peak of a step at one batch size, in bytes, and its breakdown by use.
struct Peak {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, telemetry::use_count>
      by{}; ///< indexed by Use; frees of blocks older than the trace are not subtracted
  /// The peak of a micro batch after the first one of its step. The gradients accumulated so far are held throughout;
  /// its own are allocated, added to them and freed. Equal to `bytes` if the traced step had several micro batches.
  std::uint64_t onto_gradients = 0;
};

/// Predicts the memory of an optimizer step at any batch size.
class PeakPredictor {
public:
  virtual ~PeakPredictor() = default;
  virtual Peak peak(std::int64_t batch) const = 0;
  /// The largest batch in [lowest, highest] whose predicted peak is at most `bytes`; lowest - 1 if there is none.
  virtual std::int64_t largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const = 0;
  /// Relative difference of a size's peak from its prediction up to which the prediction of the largest size is
  /// trusted.
  virtual double tolerance() const { return 1e-4; }
  /// The model behind it, which predicts many sizes in little time.
  virtual const MemoryModel& model() const = 0;
};

} // namespace batchscope::predict
