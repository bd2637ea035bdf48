#pragma once

#include <optional>
#include <utility>

#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The memory limit as a line in the memory plot; drawn only if the memory in use comes near it, so that a distant
/// limit does not flatten the curves. UI thread.
class LimitLine {
public:
  explicit LimitLine(LinkedPlots& plots) : plots_(plots) {}

  /// `predicted`: the highest planned peak in MB, if known; `end`: where the plan ends on the x axis, if known. Null:
  /// no run, no line. The line of a running run can be dragged from its present step on, see limit_handle.
  void update(const OpenRun* run, std::optional<double> predicted, std::optional<double> end, series::Axis axis);
  /// The limit in bytes, if there is one that is not drawn.
  std::optional<double> out_of_sight() const;

private:
  LinkedPlots& plots_;
  double limit_ = 0; ///< bytes; 0: none
  bool drawn_ = false;
  bool whole_process_ = false;                     ///< see OpenRun::reads_whole_process()
  std::optional<std::pair<double, double>> ahead_; ///< x range of the handle, if there is one
  std::int64_t run_ = 0;                           ///< whose line it is
  std::size_t events_ = 0;                         ///< of the run
  series::Axis axis_ = series::Axis::step;
};

} // namespace batchscope::ui
