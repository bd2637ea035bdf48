#pragma once

#include <QList>

#include "ui/plot/linked_plots.h"
#include "ui/run/open_run.h"

namespace batchscope::ui {

/// A run's events as marks on the plots; ids are the events' numbers. UI thread.
class EventMarks {
public:
  explicit EventMarks(LinkedPlots& plots) : plots_(plots) {}

  void show(const OpenRun* run, series::Axis axis); ///< null: none
  /// Takes in what came since; only then are the plots told.
  void update(const OpenRun& run);

private:
  void add(const OpenRun& run, int number);

  LinkedPlots& plots_;
  series::Axis axis_ = series::Axis::step;
  int taken_ = 0;
  QList<PlotMark> marks_;
  QList<PlotArrow> arrows_;
};

} // namespace batchscope::ui
