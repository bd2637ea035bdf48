#pragma once

#include <QWidget>

#include <array>
#include <memory>

#include "ui/plot/curve.h"
#include "ui/sweep/sweep_view.h"

namespace batchscope::ui {

class LinkedPlots;
class Theme;

/// The score and the throughput of a sweep over its one field, if that has numbers: means of the finished runs, with
/// the band in which the mean lies with 95 % certainty. UI thread.
class SweepCharts : public QWidget {
public:
  SweepCharts(const Theme& theme, QWidget* parent);

  /// False if there is nothing to see: fewer than two values have results, or more than one field varies.
  bool show_sweep(const SweepView& view);

private:
  static constexpr std::size_t count = 4;

  LinkedPlots* plots_;
  std::array<int, count> panels_{};
  std::array<std::shared_ptr<PointsCurve>, count> means_;
};

} // namespace batchscope::ui
