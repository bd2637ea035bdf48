// Selects what a plot draws of a series.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/series/pyramid.h"

namespace batchscope::series {

namespace {

constexpr std::size_t max_per_pixel = 4;
/// A pixel with this many buckets may end at a bucket's border. Its exact end would cost most of the time, since values
/// and finer buckets around it are rarely in the CPU cache.
constexpr std::size_t enough_buckets = 8;

/// The end of [first, end), or the beginning of its last, partial bucket.
std::size_t without_broken_bucket(std::size_t first, std::size_t end) {
  std::size_t width = 1;
  while (width * Pyramid::fan_out * enough_buckets <= end - first)
    width *= Pyramid::fan_out;
  return end - end % width;
}

/// The first index in [first, end) for which `inside` is false, or end; once false, it stays false. Searches near
/// `guess` first: a correct guess takes two calls.
template <typename Inside>
std::size_t end_of(std::size_t first, std::size_t end, std::size_t guess, const Inside& inside) {
  if (first >= end || !inside(first))
    return first;
  std::size_t low = first; // inside
  std::size_t high = end;  // outside, or the end
  if (const std::size_t at = std::clamp(guess, first + 1, end) - 1; inside(at)) {
    low = at;
    for (std::size_t stride = 1; high - low > stride; stride *= 2) {
      if (!inside(low + stride)) {
        high = low + stride;
        break;
      }
      low += stride;
    }
  } else {
    high = at;
    for (std::size_t stride = 1; high - low > stride; stride *= 2) {
      if (inside(high - stride)) {
        low = high - stride;
        break;
      }
      high -= stride;
    }
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return high;
}

/// The pixels of [from, to]. Rounding never reverses the order of two positions.
class Pixels {
public:
  Pixels(double from, double to, int count) : from_(from), width_(to - from), count_(count) {}

  int of(double x) const {
    if (!(width_ > 0))
      return 0;
    return std::min(count_ - 1, static_cast<int>((x - from_) / width_ * count_));
  }

private:
  double from_;
  double width_;
  int count_;
};

/// Picks the values to draw. Collects indices first and reads the values later in one pass: values far apart can then
/// be fetched in parallel.
class Picker {
public:
  explicit Picker(const Pyramid& y) : y_(y) {}

  void pick(std::size_t index) { picked_.push_back(index); }

  /// Picks from the values [first, end), which fall on one pixel.
  void pick_from_pixel(std::size_t first, std::size_t end) {
    if (end - first > max_per_pixel)
      return pick_from_crowd(first, end);
    std::size_t bad = end;
    for (std::size_t i = first; i < end; ++i) {
      pick(i);
      if (bad == end && !std::isfinite(y_[i]))
        bad = i;
    }
    if (bad != end)
      bad_.push_back(bad);
  }

  const std::vector<std::size_t>& picked() const { return picked_; }
  const std::vector<std::size_t>& bad() const { return bad_; }

private:
  void pick_from_crowd(std::size_t first, std::size_t end) {
    const Extremes extremes = y_.extremes(first, end);
    std::array<std::size_t, max_per_pixel + 1> indices{first, end - 1};
    std::size_t count = 2;
    if (extremes.finite > 0) {
      indices[count++] = extremes.min_at;
      indices[count++] = extremes.max_at;
    }
    if (extremes.infinite > 0) {
      indices[count++] = extremes.infinite_at;
      bad_.push_back(extremes.infinite_at);
    }
    std::sort(indices.begin(), indices.begin() + count);
    picked_.insert(picked_.end(), indices.begin(), std::unique(indices.begin(), indices.begin() + count));
  }

  const Pyramid& y_;
  std::vector<std::size_t> picked_;
  std::vector<std::size_t> bad_;
};

void copy(const Column<double>& x, const Pyramid& y, double scale, const Picker& picker, Samples& samples) {
  for (const std::size_t index : picker.picked()) {
    const double value = y[index] * scale;
    samples.x.push_back(x[index]);
    samples.y.push_back(std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN());
  }
  for (const std::size_t index : picker.bad()) {
    samples.bad_x.push_back(x[index]);
    samples.bad_y.push_back(y[index]);
  }
}

} // namespace

void Samples::clear() {
  x.clear();
  y.clear();
  bad_x.clear();
  bad_y.clear();
}

void sample(const Column<double>& x, const Pyramid& y, double from, double to, int pixels, double scale,
            Samples& samples) {
  samples.clear();
  const std::size_t count = y.size();
  if (count == 0 || pixels < 1 || !(from <= to) || !std::isfinite(from) || !std::isfinite(to))
    return;
  const std::size_t first = end_of(0, count, count / 2, [&](std::size_t i) { return x[i] < from; });
  const std::size_t end = end_of(first, count, count, [&](std::size_t i) { return x[i] <= to; });
  const Pixels row(from, to, pixels);
  Picker picker(y);
  if (first > 0)
    picker.pick(first - 1);
  std::size_t width = 1; // of the pixel before, in values: a good guess for the next one
  std::size_t drawn = first;
  for (std::size_t i = first; i < end;) {
    const int pixel = row.of(x[i]);
    const std::size_t next = end_of(i, end, i + width, [&](std::size_t at) { return row.of(x[at]) == pixel; });
    const std::size_t stop = next < end ? without_broken_bucket(i, next) : end;
    picker.pick_from_pixel(drawn, stop);
    width = next - i;
    i = next;
    drawn = stop;
  }
  if (end < count)
    picker.pick(end);
  copy(x, y, scale, picker, samples);
}

std::size_t index_at(const Column<double>& x, double value) {
  return end_of(0, x.size(), x.size(), [&](std::size_t i) { return x[i] <= value; }) - 1; // 0 - 1 is SIZE_MAX
}

} // namespace batchscope::series
