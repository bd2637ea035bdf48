#include "ui/compare/mean_curve.h"

#include <algorithm>
#include <cmath>

#include "core/compare/statistics.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t most_places = 300;
constexpr std::int64_t least_for_a_band = 3;

std::vector<double> places_of(const std::vector<std::shared_ptr<const PointsCurve>>& curves) {
  std::optional<Range> all;
  std::size_t most = 0;
  for (const auto& curve : curves)
    if (const auto extent = curve->extent()) {
      widen(all, extent->first);
      widen(all, extent->second);
      most = std::max(most, curve->size());
    }
  std::vector<double> places;
  if (!all)
    return places;
  if (most <= most_places) {
    series::Samples samples;
    for (const auto& curve : curves) {
      curve->sample(all->first, all->second, static_cast<int>(most_places), samples);
      places.insert(places.end(), samples.x.begin(), samples.x.end());
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() <= most_places)
      return places;
    places.clear(); // over time, no two curves have a place in common
  }
  const double width = (all->second - all->first) / static_cast<double>(most_places - 1);
  for (std::size_t i = 0; i + 1 < most_places; ++i)
    places.push_back(all->first + static_cast<double>(i) * width);
  places.push_back(all->second);
  return places;
}

} // namespace

MeanCurve mean_of(const std::vector<std::shared_ptr<const PointsCurve>>& curves) {
  auto mean = std::make_shared<PointsCurve>();
  PlotBand band;
  const auto least = static_cast<std::int64_t>(std::max<std::size_t>(2, (curves.size() + 1) / 2));
  for (const double x : places_of(curves)) {
    std::vector<double> values;
    for (const auto& curve : curves)
      if (const auto value = curve->value_at(x))
        values.push_back(*value);
    const compare::Summary summary = compare::summarize(values);
    if (summary.n < least)
      continue;
    mean->append(x, summary.mean);
    if (const auto half = compare::half_interval(summary); half && summary.n >= least_for_a_band) {
      band.x.push_back(x);
      band.low.push_back(summary.mean - *half);
      band.high.push_back(summary.mean + *half);
    }
  }
  return {mean, band};
}

} // namespace batchscope::ui
