#include <algorithm>
#include <cmath>

#include "ui/plot/curve.h"

namespace batchscope::ui {

namespace {

/// An exponential moving average.
class Smoother {
public:
  explicit Smoother(double weight) : weight_(weight) {}

  /// The average after this value; a value that is not finite is returned unchanged and not counted.
  double next(double value) {
    if (!std::isfinite(value))
      return value;
    sum_ = weight_ * sum_ + (1 - weight_) * value;
    left_ *= weight_;
    return sum_ / (1 - left_); // the sum began at 0, which is not a value of the series
  }

private:
  double weight_;
  double sum_ = 0;
  double left_ = 1; ///< weight to the power of the number of values
};

} // namespace

/// A smoothed copy, as far as it is computed.
struct SmoothedCurve::Copy {
  explicit Copy(double weight) : smoother(weight) {}

  /// Returns true when nothing is left to do.
  bool extend(const series::Pyramid& from, std::size_t most) {
    const std::size_t end = std::min(from.size(), values.size() + most);
    for (std::size_t i = values.size(); i < end; ++i)
      values.append(smoother.next(from[i]));
    return end == from.size();
  }

  Smoother smoother;
  series::Pyramid values;
};

SmoothedCurve::SmoothedCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis)
    : history_(std::move(history)), name_(std::move(name)), axis_(axis), shown_(std::make_unique<Copy>(weight_)) {}

SmoothedCurve::~SmoothedCurve() = default;

void SmoothedCurve::set_weight(double weight) {
  weight = std::isfinite(weight) ? std::clamp(weight, 0.0, 0.9999) : 0;
  if (weight == weight_)
    return;
  weight_ = weight;
  smooth_anew();
}

double SmoothedCurve::points_in(double from, double to) const {
  const series::Series* series = history_->find(name_);
  if (series == nullptr)
    return 0;
  const auto& x = series->frame->x(axis_);
  std::size_t first = series::index_at(x, from);
  if (first >= x.size() || x[first] < from)
    ++first; // from SIZE_MAX, where all are above it, to 0
  const std::size_t end = std::min(series::index_at(x, to) + 1, series->values.size());
  return first < end ? static_cast<double>(series->values.extremes(first, end).finite) : 0;
}

void SmoothedCurve::set_points_in_view(double points) {
  const double times = points / usual_points;
  // Not for every step of a zoom, nor to and fro at a border.
  if (times > times_usual_ * 0.6 && times < times_usual_ * 1.7)
    return;
  const double rounded = times > 1 ? std::exp2(std::round(std::log2(times))) : 1;
  if (rounded == times_usual_)
    return;
  times_usual_ = rounded;
  if (weight_ > 0)
    smooth_anew();
}

void SmoothedCurve::smooth_anew() {
  coming_ = std::make_unique<Copy>(std::pow(weight_, 1 / times_usual_));
}

bool SmoothedCurve::catch_up(std::size_t most) {
  const series::Series* series = history_->find(name_);
  if (!series)
    return true;
  const std::size_t before = shown_->values.size();
  bool done = false;
  if (coming_) {
    // The old copy is shown, and grows with the run, until the new one has as many values.
    if (before > 0)
      shown_->extend(series->values, most);
    revision_ += shown_->values.size() != before;
    done = coming_->extend(series->values, most);
    if (done || coming_->values.size() >= shown_->values.size()) {
      shown_ = std::move(coming_);
      ++revision_;
      ++generation_;
    }
  } else {
    done = shown_->extend(series->values, most);
    revision_ += shown_->values.size() != before;
  }
  return done;
}

std::optional<StoredCurve::Points> SmoothedCurve::points() const {
  const series::Series* series = history_->find(name_);
  return series ? std::optional(Points{series->frame->x(axis_), shown_->values}) : std::nullopt;
}

} // namespace batchscope::ui
