#pragma once

#include <cstdint>
#include <vector>

#include "core/series/column.h"

namespace batchscope::series {

/// Summary of the values [first, end) of a series.
struct Extremes {
  double min = 0; ///< of the finite values; meaningless if finite is 0
  double max = 0;
  std::size_t min_at = 0; ///< index of the first smallest
  std::size_t max_at = 0;
  double sum = 0;              ///< of the finite values
  std::size_t finite = 0;      ///< number of finite values
  std::size_t infinite = 0;    ///< number of values that are NaN or infinite
  std::size_t infinite_at = 0; ///< index of the first of those; meaningless if infinite is 0
};

/// A series with minima and maxima over ever larger ranges: any range is summarized in logarithmic time, and no spike
/// is ever lost. Append-only; one thread at a time.
class Pyramid {
public:
  /// Ranges that begin and end at multiples of a power of this are the fastest to summarize.
  static constexpr std::size_t fan_out = 16;

  void append(double value);

  std::size_t size() const { return values_.size(); }
  double operator[](std::size_t index) const { return values_[index]; }
  double back() const { return values_.back(); }

  /// The exact summary of the values [first, end); `end` is at most size().
  Extremes extremes(std::size_t first, std::size_t end) const;

private:
  static constexpr std::size_t max_levels = 7; ///< a bucket of the top level has 16^7 values, which 32 bits can count

  /// Summary of fan_out values or buckets. Indices are relative to its first value, so the buckets of a constant series
  /// are equal and take almost no memory.
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

  /// Adds the entries [first, end) of a level; level 0 is the values themselves.
  void gather(std::size_t level, std::size_t first, std::size_t end, Gathering& gathering) const;

  Column<double> values_;
  std::vector<Column<Bucket>>
      levels_; ///< an entry of levels_[0] summarizes fan_out values, each further level fan_out times as many
};

/// Points to draw, in the order of x; y is NaN where the line breaks.
struct Samples {
  std::vector<double> x;
  std::vector<double> y;
  /// Where values are NaN or infinite: x, and the value. At most one per pixel, the first.
  std::vector<double> bad_x;
  std::vector<double> bad_y;

  void clear();
};

/// Selects what to draw of a series for x in [from, to] on `pixels` pixels. If more than four values fall on a pixel,
/// these are its first, smallest, largest and last value in their order (and the first that breaks the line), else all
/// values; in addition the neighbour on either side, so that lines reach the border. With 128 values or more on a
/// pixel, up to an eighth of them, the last ones, may be attributed to the next pixel. Deterministic. `x` is finite and
/// nondecreasing, and has at least y.size() values. `scale` multiplies every y. No points if the range is empty,
/// reversed or not finite.
void sample(const Column<double>& x, const Pyramid& y, double from, double to, int pixels, double scale,
            Samples& samples);

/// The index of the last x at or below `value`; SIZE_MAX if all are above it.
std::size_t index_at(const Column<double>& x, double value);

} // namespace batchscope::series
