#include "core/schedule/gradient_noise.h"

#include <algorithm>
#include <cmath>

namespace batchscope::schedule {

void GradientNoise::add(const GradientNorms& norms) {
  if (!std::isfinite(norms.part_squared) || !std::isfinite(norms.whole_squared))
    return;
  const auto part = static_cast<double>(norms.part);
  const auto whole = static_cast<double>(norms.whole);
  const double squared_now = (whole * norms.whole_squared - part * norms.part_squared) / (whole - part);
  const double variance_now = (norms.part_squared - norms.whole_squared) / (1 / part - 1 / whole);
  squared = smoothing * squared + (1 - smoothing) * squared_now;
  variance = smoothing * variance + (1 - smoothing) * variance_now;
}

std::optional<double> GradientNoise::scale() const {
  if (!(squared > 0))
    return std::nullopt;
  return std::max(0.0, variance) / squared;
}

double GradientNoise::gain(double scale, std::int64_t reference_batch) const {
  if (!(squared > 0) || !(scale > 0))
    return 1;
  const double var = std::max(0.0, variance) / static_cast<double>(reference_batch);
  return (var + squared) / (var / scale + squared);
}

} // namespace batchscope::schedule
