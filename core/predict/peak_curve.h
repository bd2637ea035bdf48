#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/memory_model.h"

namespace batchscope::predict {

/// How a nominal batch is run where memory does not hold it in one piece.
struct Split {
  std::int64_t micro_batches = 1;
  std::int64_t micro_batch = 1; ///< the largest of them
  bool fits = true;             ///< false where not even single examples would
  std::uint64_t bytes = 0;      ///< the peak of the step then
};

/// The predicted peak of a step against the micro batch: a plain value to draw, to store and to ask quickly. Made of
/// replays at a few dozen sizes, straight between them. The peak is the highest of straight lines, so this errs
/// upwards, by at most 0.2 % (but for the allocator's rounding of each block). Copies are cheap enough to cross
/// threads; any thread.
class PeakCurve {
public:
  struct Point {
    std::int64_t batch = 0;
    std::uint64_t bytes = 0;
    /// The same for a micro batch that is not the first of its step: the gradients of those before it are held.
    std::uint64_t onto_gradients = 0;
    std::array<std::uint64_t, telemetry::use_count> by{}; ///< what fills `bytes`, indexed by Use
  };

  /// From 1 to `highest` (at least 1). `error` is the relative error to state, see error().
  PeakCurve(const MemoryModel& model, std::int64_t highest, double error);

  /// At any size from 1; beyond the last point as the last two go on.
  Point at(std::int64_t batch) const;
  /// Relative error of the prediction, >= 0: the largest one seen at sizes that were run and foretold before, or the
  /// share of the trace that could not be matched where none was run yet.
  double error() const { return error_; }
  /// How a nominal batch is run within `limit_bytes`: whole where that fits, else as the fewest micro batches, as even
  /// as can be, that do. It is what the training loop comes to after an out-of-memory error.
  Split split(std::int64_t batch, std::uint64_t limit_bytes) const;
  /// In ascending order of sizes; the first is 1, and there are at least two.
  const std::vector<Point>& points() const { return points_; }

  std::string to_json() const;
  static std::optional<PeakCurve> from_json(const std::string& text); ///< nothing where the text is none

private:
  PeakCurve() = default;

  std::vector<Point> points_;
  double error_ = 0;
};

} // namespace batchscope::predict
