#pragma once

#include <QList>

#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// A run's events as marks on the plots; ids are the events' numbers. UI thread.
class EventMarks {
public:
  explicit EventMarks(LinkedPlots& plots) : plots_(plots) {}

  void show(const OpenRun* run, series::Axis axis); ///< null: none
  /// Gives the plots what came since, which costs nothing of what was there before.
  void update(const OpenRun& run);
  /// Where an event stands; nothing of a step that is still being made.
  static std::optional<double> place(const OpenRun& run, const telemetry::Event& event, series::Axis axis);

private:
  struct Signs {
    QList<PlotMark> marks;
    QList<PlotArrow> arrows;
  };
  void add(const OpenRun& run, int number, double place, Signs& signs) const;

  LinkedPlots& plots_;
  series::Axis axis_ = series::Axis::step;
  int taken_ = 0;
};

} // namespace batchscope::ui
