#pragma once

#include <optional>
#include <utility>

#include "core/series/pyramid.h"
#include "ui/plot/curve.h"

// Implementation of CurveSource's functions for a column of x and a pyramid of y.
namespace batchscope::ui {

/// A sequence of points; x is nondecreasing and has at least as many entries as y.
struct Points {
  const series::Column<double>& x;
  const series::Pyramid& y;
  double scale = 1; ///< multiplies every y
};

void sample(const Points& points, double from, double to, int pixels, series::Samples& samples);
std::optional<std::pair<double, double>> extent(const Points& points);
std::optional<std::pair<double, double>> range(const Points& points, double from, double to);
std::optional<double> value_at(const Points& points, double x);
std::optional<CurveSummary> summary(const Points& points, double from, double to);

} // namespace batchscope::ui
