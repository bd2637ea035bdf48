#pragma once

#include <QList>

#include "ui/opened_runs/open_run.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// The events of a run as marks in the plots; a mark's id is the event's index. UI thread.
class EventMarks {
public:
  explicit EventMarks(LinkedPlots& plots) : plots_(plots) {}

  void show(const OpenRun* run, series::Axis axis); ///< null: none
  /// Adds the events that are new; the cost does not depend on the older ones.
  void update(const OpenRun& run);
  /// x of an event; nothing if its step is still being made.
  static std::optional<double> place(const OpenRun& run, int number, series::Axis axis);

private:
  struct Signs {
    QList<PlotMark> marks;
    QList<PlotArrow> arrows;
  };
  void add(const OpenRun& run, int number, double place, Signs& signs) const;
  static void add(const OpenRun& run, std::int64_t step, const telemetry::OutOfMemory& oom, PlotMark mark,
                  Signs& signs);

  LinkedPlots& plots_;
  series::Axis axis_ = series::Axis::step;
  int taken_ = 0;
};

} // namespace batchscope::ui
