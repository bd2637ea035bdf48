#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plot/curve.h"
#include "ui/plot/detail/columns.h"

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

/// A smoothed copy, as far as it is computed.
struct Copy {
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

} // namespace

class SmoothedCurve::Impl {
public:
  Impl(std::shared_ptr<const series::History> history, std::string name, series::Axis axis)
      : history_(std::move(history)), name_(std::move(name)), axis_(axis) {}

  void set_weight(double weight) {
    weight = std::isfinite(weight) ? std::clamp(weight, 0.0, 0.9999) : 0;
    if (weight == weight_)
      return;
    weight_ = weight;
    coming_.emplace(weight);
  }

  bool catch_up(std::size_t most) {
    const series::Series* series = this->series();
    if (!series)
      return true;
    const std::size_t before = shown_.values.size();
    bool done = false;
    if (coming_) {
      // The old copy is shown until the new one has as many values.
      done = coming_->extend(series->values, most);
      if (done || coming_->values.size() >= before) {
        shown_ = std::move(*coming_);
        coming_.reset();
        ++revision_;
        ++generation_;
      }
    } else {
      done = shown_.extend(series->values, most);
      revision_ += shown_.values.size() != before;
    }
    return done;
  }

  /// Nothing before the first value.
  std::optional<Points> points() const {
    const series::Series* series = this->series();
    if (!series)
      return std::nullopt;
    return Points{series->frame->x(axis_), shown_.values};
  }

  std::uint64_t revision() const { return revision_; }
  std::uint64_t generation() const { return generation_; }

private:
  const series::Series* series() const { return history_->find(name_); }

  std::shared_ptr<const series::History> history_;
  std::string name_;
  series::Axis axis_;
  double weight_ = 0.9;
  Copy shown_{0.9};
  std::optional<Copy> coming_; ///< with a new weight
  std::uint64_t revision_ = 1;
  std::uint64_t generation_ = 1;
};

SmoothedCurve::SmoothedCurve(std::shared_ptr<const series::History> history, std::string name, series::Axis axis)
    : impl_(std::make_unique<Impl>(std::move(history), std::move(name), axis)) {}

SmoothedCurve::~SmoothedCurve() = default;

void SmoothedCurve::set_weight(double weight) {
  impl_->set_weight(weight);
}

bool SmoothedCurve::catch_up(std::size_t most) {
  return impl_->catch_up(most);
}

void SmoothedCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  samples.clear();
  if (const auto points = impl_->points())
    ui::sample(*points, from, to, pixels, samples);
}

std::optional<std::pair<double, double>> SmoothedCurve::extent() const {
  const auto points = impl_->points();
  return points ? ui::extent(*points) : std::nullopt;
}

std::optional<std::pair<double, double>> SmoothedCurve::range(double from, double to) const {
  const auto points = impl_->points();
  return points ? ui::range(*points, from, to) : std::nullopt;
}

std::optional<double> SmoothedCurve::value_at(double x) const {
  const auto points = impl_->points();
  return points ? ui::value_at(*points, x) : std::nullopt;
}

std::optional<CurveSummary> SmoothedCurve::summary(double from, double to) const {
  const auto points = impl_->points();
  return points ? ui::summary(*points, from, to) : std::nullopt;
}

std::uint64_t SmoothedCurve::revision() const {
  return impl_->revision();
}

std::uint64_t SmoothedCurve::generation() const {
  return impl_->generation();
}

} // namespace batchscope::ui
