#pragma once

#include <cstdint>
#include <vector>

#include "core/series/column.h"

namespace batchscope::series {

/// The values [first, end) of a series in short.
struct Extremes {
  double min = 0; ///< of the finite values; meaningless where finite is 0
  double max = 0;
  std::size_t min_at = 0; ///< index of the first smallest
  std::size_t max_at = 0;
  double sum = 0;              ///< of the finite values
  std::size_t finite = 0;      ///< how many values are neither NaN nor infinite
  std::size_t infinite = 0;    ///< how many are NaN or infinite
  std::size_t infinite_at = 0; ///< index of the first of those; meaningless where infinite is 0
};

/// A series of values with its smallest and greatest over ever larger ranges, so that any range is summed up in
/// logarithmic time and no spike is ever lost. Append-only, one thread at a time.
class Pyramid {
public:
  /// Ranges that begin and end at multiples of a power of this are summed up fastest.
  static constexpr std::size_t fan_out = 16;

  void append(double value);

  std::size_t size() const { return values_.size(); }
  double operator[](std::size_t index) const { return values_[index]; }
  double back() const { return values_.back(); }

  /// Of the values [first, end), exactly; `end` at most size().
  Extremes extremes(std::size_t first, std::size_t end) const;

private:
  static constexpr std::size_t most_levels = 7; ///< a bucket of the last one has 16^7 values, which 32 bits can count

  /// Extremes of fan_out values or buckets. Indices count from its beginning, so that the buckets of a constant series
  /// are alike and its levels take no memory either.
  struct Bucket {
    double min = 0;
    double max = 0;
    double sum = 0;
    std::uint32_t min_at = 0;
    std::uint32_t max_at = 0;
    std::uint32_t finite = 0;
    std::uint32_t infinite_at = 0;
  };
  class Gathering;

  /// Adds the entries [first, end) of a level; level 0 are the values themselves.
  void gather(std::size_t level, std::size_t first, std::size_t end, Gathering& gathering) const;

  Column<double> values_;
  std::vector<Column<Bucket>>
      levels_; ///< levels_[0] sums up fan_out values an entry, each further one fan_out times more
};

/// Points to draw, in the order of x; y is NaN where the line is broken.
struct Samples {
  std::vector<double> x;
  std::vector<double> y;
  /// Where values are NaN or infinite: x, and the value. At most one a pixel, the first.
  std::vector<double> bad_x;
  std::vector<double> bad_y;

  void clear();
};

/// What to draw of a series for x in [from, to] on `pixels` pixels: where more than four values fall on a pixel, its
/// first, smallest, greatest and last value in their order (and the first that breaks the line), else all of them; and
/// the neighbour on either side, so that lines run to the border. Of 128 values on a pixel and more, the last may count
/// for the pixel after it, but never more than an eighth. Always the same for the same arguments. `x` is finite and
/// never falls, and has at least y.size() values. `scale` multiplies every y. Nothing for a range that is empty, upside
/// down or not finite.
void sample(const Column<double>& x, const Pyramid& y, double from, double to, int pixels, double scale,
            Samples& samples);

/// The index of the last x at or below `value`; nothing (SIZE_MAX) where all are above it.
std::size_t index_at(const Column<double>& x, double value);

} // namespace batchscope::series
