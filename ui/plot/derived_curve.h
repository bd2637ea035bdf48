#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "ui/plot/curve.h"

namespace batchscope::ui {

/// Another curve's points with their y put through a function, from a place on. What it follows may change while it is
/// drawn: a plan that is replaced while it is dragged stays one curve. UI thread.
class DerivedCurve : public CurveSource {
public:
  using Mapping = std::function<double(double)>;

  /// Null: empty. Without a mapping the values are as they are.
  void follow(std::shared_ptr<const CurveSource> source, Mapping mapping = {});
  /// Leaves out what is left of x, but for the point before it, so that lines join; nothing: all.
  void set_start(std::optional<double> x);

  void sample(double from, double to, int pixels, series::Samples& samples) const override;
  std::optional<std::pair<double, double>> extent() const override;
  /// With a mapping: of a thousand places, which is exact where no more values are there.
  std::optional<std::pair<double, double>> range(double from, double to) const override;
  std::optional<double> value_at(double x) const override;
  /// Nothing where there is a mapping: means of mapped values are not known.
  std::optional<CurveSummary> summary(double from, double to) const override;
  std::uint64_t revision() const override;

private:
  double first(double x) const;

  std::shared_ptr<const CurveSource> source_;
  Mapping mapping_;
  std::optional<double> start_;
  std::uint64_t changes_ = 0;
};

} // namespace batchscope::ui
