#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "ui/plot/curve.h"

namespace batchscope::ui {

/// The points of another curve from some x on, with y mapped by a function. Its source can be replaced while it is
/// drawn, so a plan that changes during a drag stays one curve. UI thread.
class DerivedCurve : public CurveSource {
public:
  using Mapping = std::function<double(double)>;

  /// Null: empty. Without a mapping, y is unchanged.
  void follow(std::shared_ptr<const CurveSource> source, Mapping mapping = {});
  /// Omits the points left of x, except the last one before it, so that lines join; nothing: shows all.
  void set_start(std::optional<double> x);

  void sample(double from, double to, int pixels, series::Samples& samples) const override;
  std::optional<std::pair<double, double>> extent() const override;
  /// With a mapping: evaluated at a thousand places, which is exact if there are no more values than that.
  std::optional<std::pair<double, double>> range(double from, double to) const override;
  std::optional<double> value_at(double x) const override;
  /// Nothing if there is a mapping: the mean of mapped values is not known.
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
