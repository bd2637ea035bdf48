#include "core/series/pyramid.h"

#include <cmath>
#include <limits>

namespace batchscope::series {

/// Accumulates Extremes. Parts may be added in any order; within a part, values are in order.
class Pyramid::Gathering {
public:
  void add(const Column<double>& values, std::size_t first, std::size_t end) {
    Part part;
    values.visit(first, end, [&](double value, std::size_t at) {
      // Branch-free: the position of the next minimum is unpredictable, and this loop is most of the work.
      const bool finite = std::abs(value) <= std::numeric_limits<double>::max(); // false for NaN, too
      part.lower(finite && value < part.min, value, at);
      part.raise(finite && value > part.max, value, at);
      part.sum += finite ? value : 0;
      part.finite += finite ? 1 : 0;
      part.infinite_at = finite ? part.infinite_at : std::min(part.infinite_at, at);
    });
    add(part, end - first);
  }

  /// Adds buckets of `width` values each.
  void add(const Column<Bucket>& buckets, std::size_t first, std::size_t end, std::size_t width) {
    Part part;
    buckets.visit(first, end, [&](const Bucket& bucket, std::size_t index) {
      const std::size_t begin = index * width;
      part.lower(bucket.finite > 0 && bucket.min < part.min, bucket.min, begin + bucket.min_at);
      part.raise(bucket.finite > 0 && bucket.max > part.max, bucket.max, begin + bucket.max_at);
      part.sum += bucket.sum;
      part.finite += bucket.finite;
      part.infinite_at =
          bucket.finite == width ? part.infinite_at : std::min(part.infinite_at, begin + bucket.infinite_at);
    });
    add(part, (end - first) * width);
  }

  Extremes result() const {
    Extremes extremes;
    extremes.finite = all_.finite;
    extremes.infinite = count_ - all_.finite;
    if (extremes.finite > 0) {
      extremes.min = all_.min;
      extremes.max = all_.max;
      extremes.min_at = all_.min_at;
      extremes.max_at = all_.max_at;
      extremes.sum = all_.sum;
    }
    if (extremes.infinite > 0)
      extremes.infinite_at = all_.infinite_at;
    return extremes;
  }

  /// Everything that was added as one bucket that begins at index `begin`.
  Bucket bucket(std::size_t begin) const {
    Bucket bucket;
    bucket.finite = static_cast<std::uint32_t>(all_.finite);
    if (all_.finite > 0) {
      bucket.min = all_.min;
      bucket.max = all_.max;
      bucket.sum = all_.sum;
      bucket.min_at = static_cast<std::uint32_t>(all_.min_at - begin);
      bucket.max_at = static_cast<std::uint32_t>(all_.max_at - begin);
    }
    if (all_.finite < count_)
      bucket.infinite_at = static_cast<std::uint32_t>(all_.infinite_at - begin);
    return bucket;
  }

private:
  struct Part {
    void lower(bool holds, double value, std::size_t at) {
      min = holds ? value : min;
      min_at = holds ? at : min_at;
    }
    void raise(bool holds, double value, std::size_t at) {
      max = holds ? value : max;
      max_at = holds ? at : max_at;
    }

    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::size_t min_at = SIZE_MAX;
    std::size_t max_at = SIZE_MAX;
    std::size_t finite = 0;
    std::size_t infinite_at = SIZE_MAX;
  };

  void add(const Part& part, std::size_t count) {
    all_.lower(part.min < all_.min || (part.min == all_.min && part.min_at < all_.min_at), part.min, part.min_at);
    all_.raise(part.max > all_.max || (part.max == all_.max && part.max_at < all_.max_at), part.max, part.max_at);
    all_.sum += part.sum;
    all_.finite += part.finite;
    all_.infinite_at = std::min(all_.infinite_at, part.infinite_at);
    count_ += count;
  }

  Part all_;
  std::size_t count_ = 0; ///< of all values added
};

void Pyramid::gather(std::size_t level, std::size_t first, std::size_t end, Gathering& gathering) const {
  if (level == 0)
    return gathering.add(values_, first, end);
  std::size_t width = 1;
  for (std::size_t i = 0; i < level; ++i)
    width *= fan_out;
  gathering.add(levels_[level - 1], first, end, width);
}

void Pyramid::append(double value) {
  values_.append(value);
  std::size_t end = values_.size();
  std::size_t width = 1;
  for (std::size_t level = 0; level < max_levels && end % fan_out == 0; ++level) {
    width *= fan_out;
    Gathering gathering;
    gather(level, end - fan_out, end, gathering);
    end /= fan_out;
    if (level == levels_.size())
      levels_.emplace_back();
    levels_[level].append(gathering.bucket((end - 1) * width));
  }
}

Extremes Pyramid::extremes(std::size_t first, std::size_t end) const {
  Gathering gathering;
  std::size_t level = 0;
  // Adds the ends that do not fill a whole bucket; the part between them is added on the next level.
  for (; level < levels_.size(); ++level) {
    const std::size_t first_whole = first / fan_out + (first % fan_out != 0 ? 1 : 0);
    const std::size_t end_whole = end / fan_out;
    if (first_whole >= end_whole)
      break;
    gather(level, first, first_whole * fan_out, gathering);
    gather(level, end_whole * fan_out, end, gathering);
    first = first_whole;
    end = end_whole;
  }
  gather(level, first, end, gathering);
  return gathering.result();
}

} // namespace batchscope::series
