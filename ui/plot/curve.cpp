#include "ui/plot/curve.h"

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/columns.h"

namespace batchscope::ui {

HistoryCurve::HistoryCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis,
                           double scale)
    : history_(std::move(history)), name_(std::move(name)), axis_(axis), scale_(scale) {}

const series::Series* HistoryCurve::series() const {
  return history_->find(name_);
}

void HistoryCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  samples.clear();
  if (const series::Series* series = this->series())
    ui::sample({series->frame->x(axis_), series->values, scale_}, from, to, pixels, samples);
}

std::optional<std::pair<double, double>> HistoryCurve::extent() const {
  const series::Series* series = this->series();
  return series ? ui::extent({series->frame->x(axis_), series->values}) : std::nullopt;
}

std::optional<std::pair<double, double>> HistoryCurve::range(double from, double to) const {
  const series::Series* series = this->series();
  return series ? ui::range({series->frame->x(axis_), series->values, scale_}, from, to) : std::nullopt;
}

std::optional<double> HistoryCurve::value_at(double x) const {
  const series::Series* series = this->series();
  return series ? ui::value_at({series->frame->x(axis_), series->values, scale_}, x) : std::nullopt;
}

std::optional<CurveSummary> HistoryCurve::summary(double from, double to) const {
  const series::Series* series = this->series();
  return series ? ui::summary({series->frame->x(axis_), series->values, scale_}, from, to) : std::nullopt;
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

void PointsCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  ui::sample({x_, y_}, from, to, pixels, samples);
}

std::optional<std::pair<double, double>> PointsCurve::extent() const {
  return ui::extent({x_, y_});
}

std::optional<std::pair<double, double>> PointsCurve::range(double from, double to) const {
  return ui::range({x_, y_}, from, to);
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

std::optional<CurveSummary> PointsCurve::summary(double from, double to) const {
  return ui::summary({x_, y_}, from, to);
}

} // namespace batchscope::ui
