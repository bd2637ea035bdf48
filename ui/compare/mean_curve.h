#pragma once

#include <memory>
#include <vector>

#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The mean of several curves, and half the 95 % confidence interval of it to either side.
struct MeanCurve {
  std::shared_ptr<const PointsCurve> mean;
  PlotBand band; ///< where at least three curves have a value: two say too little of how much they spread
};

/// At the curves' own places if these are few, else at evenly spread ones; where at least two curves, and half of them,
/// have a value. Values between two points are on the line between them.
MeanCurve mean_of(const std::vector<std::shared_ptr<const PointsCurve>>& curves);

} // namespace batchscope::ui
