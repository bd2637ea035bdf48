#include "ui/plot/derived_curve.h"

#include <algorithm>
#include <cmath>

#include "ui/plot/range.h"

namespace batchscope::ui {

namespace {

/// Revisions of a source stay far below this, so every change gives a new number.
constexpr std::uint64_t revisions_of_a_source = std::uint64_t{1} << 40;
constexpr int places = 1000;

} // namespace

void DerivedCurve::follow(std::shared_ptr<const CurveSource> source, Mapping mapping) {
  source_ = std::move(source);
  mapping_ = std::move(mapping);
  ++changes_;
}

void DerivedCurve::set_start(std::optional<double> x) {
  if (start_ == x)
    return;
  start_ = x;
  ++changes_;
}

double DerivedCurve::first(double x) const {
  return start_ ? std::max(x, *start_) : x;
}

void DerivedCurve::sample(double from, double to, int pixels, series::Samples& samples) const {
  samples.clear();
  if (!source_ || first(from) > to)
    return;
  source_->sample(first(from), to, pixels, samples);
  if (!mapping_)
    return;
  for (double& y : samples.y)
    y = std::isfinite(y) ? mapping_(y) : y;
}

std::optional<std::pair<double, double>> DerivedCurve::extent() const {
  const auto whole = source_ ? source_->extent() : std::nullopt;
  if (!whole || first(whole->first) > whole->second)
    return std::nullopt;
  return std::pair(first(whole->first), whole->second);
}

std::optional<std::pair<double, double>> DerivedCurve::range(double from, double to) const {
  if (!source_ || first(from) > to)
    return std::nullopt;
  if (!mapping_)
    return source_->range(first(from), to);
  series::Samples samples;
  sample(from, to, places, samples);
  std::optional<Range> result;
  for (std::size_t i = 0; i < samples.y.size(); ++i)
    if (samples.x[i] >= first(from) && samples.x[i] <= to)
      widen(result, samples.y[i]);
  return result;
}

std::optional<double> DerivedCurve::value_at(double x) const {
  if (!source_ || first(x) > x)
    return std::nullopt;
  const auto value = source_->value_at(x);
  return value && mapping_ && std::isfinite(*value) ? mapping_(*value) : value;
}

std::optional<CurveSummary> DerivedCurve::summary(double from, double to) const {
  if (!source_ || mapping_ || first(from) > to)
    return std::nullopt;
  return source_->summary(first(from), to);
}

std::uint64_t DerivedCurve::revision() const {
  return changes_ * revisions_of_a_source + (source_ ? source_->revision() : 0);
}

} // namespace batchscope::ui
