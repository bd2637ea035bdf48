#pragma once

#include <QString>

#include "ui/sweep/cell_grid.h"

// Texts in the cells of a sweep.
namespace batchscope::ui {

/// The lines of a cell.
struct CellText {
  QString head;        ///< the mean, `failed`, `3 runs waiting`
  QString below;       ///< spread, `2 of 3 runs`, `about 0:14 each`
  QString alarm;       ///< `2 OOM, survived`, `will not fit`; empty if all is well
  bool failed = false; ///< no run of it has finished, and none will
};
CellText cell_text(const SweepView& view, const Cell& cell, Metric metric);

/// All about it: its settings, the mean, and a line for each run.
QString cell_tip(const SweepView& view, const Cell& cell, Metric metric);

/// Whether any run of it trains, or none of it has begun.
bool trains(const SweepView& view, const Cell& cell);
bool untouched(const SweepView& view, const Cell& cell);

} // namespace batchscope::ui
