#pragma once

#include <optional>

#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The memory's limit across the memory plot; only while what is used comes near it, so that a limit far away does not
/// press the curves to the ground. UI thread.
class LimitLine {
public:
  explicit LimitLine(LinkedPlots& plots) : plots_(plots) {}

  /// `predicted`: the highest planned peak in MB, where known. Null: no run, no line.
  void update(const OpenRun* run, std::optional<double> predicted);
  /// Bytes of a limit that is there but not drawn.
  std::optional<double> out_of_sight() const;

private:
  LinkedPlots& plots_;
  double limit_ = 0; ///< bytes; 0: none
  bool drawn_ = false;
};

} // namespace batchscope::ui
