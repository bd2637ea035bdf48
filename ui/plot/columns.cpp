#include "ui/plot/detail/columns.h"

#include <algorithm>

namespace batchscope::ui {

namespace {

/// The indices [first, end) of the points with x in [from, to].
std::pair<std::size_t, std::size_t> indices(const Points& points, double from, double to) {
  const std::size_t count = points.y.size();
  const auto first_where = [count](const auto& holds) { // holds() is false, then true
    std::size_t low = 0;
    for (std::size_t left = count; left > 0;) {
      const std::size_t half = left / 2;
      if (holds(low + half)) {
        left = half;
      } else {
        low += half + 1;
        left -= half + 1;
      }
    }
    return low;
  };
  const std::size_t first = first_where([&](std::size_t i) { return points.x[i] >= from; });
  const std::size_t end = first_where([&](std::size_t i) { return points.x[i] > to; });
  return {first, std::max(first, end)};
}

} // namespace

void sample(const Points& points, double from, double to, int pixels, series::Samples& samples) {
  series::sample(points.x, points.y, from, to, pixels, points.scale, samples);
}

std::optional<std::pair<double, double>> extent(const Points& points) {
  if (points.y.size() == 0)
    return std::nullopt;
  return std::pair(points.x[0], points.x[points.y.size() - 1]);
}

std::optional<std::pair<double, double>> range(const Points& points, double from, double to) {
  const auto [first, end] = indices(points, from, to);
  const series::Extremes extremes = points.y.extremes(first, end);
  if (extremes.finite == 0)
    return std::nullopt;
  return std::minmax({extremes.min * points.scale, extremes.max * points.scale});
}

std::optional<double> value_at(const Points& points, double x) {
  const auto all = extent(points);
  if (!all || !(x >= all->first) || x > all->second)
    return std::nullopt;
  const std::size_t index = std::min(series::index_at(points.x, x), points.y.size() - 1);
  return points.y[index] * points.scale;
}

std::optional<CurveSummary> summary(const Points& points, double from, double to) {
  const auto [first, end] = indices(points, from, to);
  const series::Extremes extremes = points.y.extremes(first, end);
  if (extremes.finite == 0)
    return std::nullopt;
  CurveSummary summary;
  summary.count = extremes.finite;
  summary.first = points.y[first] * points.scale;
  summary.last = points.y[end - 1] * points.scale;
  summary.min = std::min(extremes.min * points.scale, extremes.max * points.scale);
  summary.max = std::max(extremes.min * points.scale, extremes.max * points.scale);
  summary.mean = extremes.sum / static_cast<double>(extremes.finite) * points.scale;
  return summary;
}

} // namespace batchscope::ui
