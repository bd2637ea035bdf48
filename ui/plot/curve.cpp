#include "ui/plot/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace batchscope::ui {

namespace {

/// The indices [first, end) of the points with x in [from, to]; there are `count` of them in all.
std::pair<std::size_t, std::size_t> indices(const series::Column<double>& x, std::size_t count, double from,
                                            double to) {
  const auto above = [&](double place) { return std::min(count, series::index_at(x, place) + 1); };
  const std::size_t first = above(std::nextafter(from, -std::numeric_limits<double>::infinity()));
  return {first, std::max(first, above(to))};
}

} // namespace

void StoredCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  samples.clear();
  if (const auto points = this->points())
    series::sample(points->x, points->y, from, to, pixels, points->scale, samples);
}

std::optional<std::pair<double, double>> StoredCurve::extent() const {
  const auto points = this->points();
  if (!points || points->y.size() == 0)
    return std::nullopt;
  return std::pair(points->x[0], points->x[points->y.size() - 1]);
}

std::optional<std::pair<double, double>> StoredCurve::range(double from, double to) const {
  const auto summary = StoredCurve::summary(from, to);
  return summary ? std::optional(std::pair(summary->min, summary->max)) : std::nullopt;
}

std::optional<double> StoredCurve::value_at(double x) const {
  const auto all = extent();
  if (!all || !(x >= all->first) || x > all->second)
    return std::nullopt;
  const auto points = this->points();
  const std::size_t index = std::min(series::index_at(points->x, x), points->y.size() - 1);
  return points->y[index] * points->scale;
}

std::optional<CurveSummary> StoredCurve::summary(double from, double to) const {
  const auto points = this->points();
  if (!points)
    return std::nullopt;
  const auto& [x, y, scale] = *points;
  const auto [first, end] = indices(x, y.size(), from, to);
  const series::Extremes extremes = y.extremes(first, end);
  if (extremes.finite == 0)
    return std::nullopt;
  const auto [min, max] = std::minmax({extremes.min * scale, extremes.max * scale});
  return CurveSummary{.count = extremes.finite,
                      .first = y[first] * scale,
                      .last = y[end - 1] * scale,
                      .min = min,
                      .max = max,
                      .mean = extremes.sum / static_cast<double>(extremes.finite) * scale};
}

HistoryCurve::HistoryCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis,
                           double scale)
    : history_(std::move(history)), name_(std::move(name)), axis_(axis), scale_(scale) {}

std::optional<StoredCurve::Points> HistoryCurve::points() const {
  const series::Series* series = history_->find(name_);
  return series ? std::optional(Points{series->frame->x(axis_), series->values, scale_}) : std::nullopt;
}

PointsCurve::PointsCurve(const std::vector<double>& x, const std::vector<double>& y) {
  set(x, y);
}

void PointsCurve::set(const std::vector<double>& x, const std::vector<double>& y) {
  x_ = {};
  y_ = {};
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    x_.append(x[i]);
    y_.append(y[i]);
  }
  ++revision_;
}

void PointsCurve::append(double x, double y) {
  x_.append(x);
  y_.append(y);
  ++revision_;
}

std::optional<double> PointsCurve::value_at(double x) const {
  const auto all = extent();
  if (!all || x < all->first || x > all->second)
    return std::nullopt;
  const std::size_t left = series::index_at(x_, x);
  if (left + 1 >= x_.size() || x == x_[left])
    return y_[left];
  return y_[left] + (y_[left + 1] - y_[left]) * (x - x_[left]) / (x_[left + 1] - x_[left]);
}

} // namespace batchscope::ui
