#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/memory_model.h"

namespace batchscope::predict {

/// How a nominal batch is split into micro batches that fit the memory.
struct Split {
  std::int64_t micro_batches = 1;
  std::int64_t micro_batch = 1; ///< the largest of them
  bool fits = true;             ///< false if not even one example fits
  std::uint64_t bytes = 0;      ///< peak of the step with this split
};

/// The predicted peak of a step as a function of the micro batch: a plain value to draw, store and query fast. It holds
/// the peaks at a few dozen sizes and interpolates linearly. The peak is a maximum of straight lines, so interpolation
/// errs upwards, by at most 0.2 % (the allocator's rounding of each block aside). Copies are cheap; any thread.
class PeakCurve {
public:
  struct Point {
    std::int64_t batch = 0;
    std::uint64_t bytes = 0;
    /// The peak of a micro batch after the first one of its step: the accumulated gradients are held.
    std::uint64_t onto_gradients = 0;
    std::array<std::uint64_t, telemetry::use_count> by{}; ///< breakdown of `bytes`, indexed by Use
  };

  /// Covers 1 to `highest` (at least 1). `error` is the relative error, see error().
  PeakCurve(const MemoryModel& model, std::int64_t highest, double error);

  /// The prediction at any size from 1; beyond the last point, extrapolated from the last two.
  Point at(std::int64_t batch) const;
  /// Relative error of the prediction, >= 0: the largest one at the sizes that were predicted before they ran, or, if
  /// there is none, the fraction of the trace without a counterpart.
  double error() const { return error_; }
  /// How a nominal batch runs within `limit_bytes`: whole if it fits, else as the fewest micro batches that fit, of
  /// sizes as even as possible. The training loop arrives at the same split after an out-of-memory error.
  Split split(std::int64_t batch, std::uint64_t limit_bytes) const;
  /// In ascending order of batch; the first is 1, and there are at least two.
  const std::vector<Point>& points() const { return points_; }

  std::string to_json() const;
  static std::optional<PeakCurve> from_json(const std::string& text); ///< nothing if the text is not a peak curve

private:
  PeakCurve() = default;

  std::vector<Point> points_;
  double error_ = 0;
};

} // namespace batchscope::predict
