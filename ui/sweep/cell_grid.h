#pragma once

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

#include "core/compare/statistics.h"
#include "ui/sweep/sweep_view.h"

namespace batchscope::ui {

/// Runs of a sweep that differ in the seed only.
struct Cell {
  int panel = 0;
  int row = 0;
  int column = 0;
  std::vector<std::size_t> runs; ///< indices into SweepView::runs, in their order
  compare::Summary summary;      ///< of the metric over its finished runs
};

/// The cells of a sweep in rows and columns: two fields span a grid, each combination of further fields has one of its
/// own beside it. A plain value.
struct CellGrid {
  struct Axis {
    std::string field; ///< empty: there is none
    QStringList values;
    QStringList notes; ///< below the values; may be empty texts
  };
  Axis columns, rows;
  QStringList panels; ///< titles; one empty text if there is only one
  /// The combinations do not span a grid (they were drawn, or most are left out): one after the other, in rows of no
  /// meaning.
  bool flows = false;
  std::vector<Cell> cells;
  double least = 0, most = 0; ///< of the means of the cells that have one
  bool any = false;           ///< whether any cell has one
};

CellGrid grid_of(const SweepView& view, Metric metric);

/// Where the value lies between the worst cell, 0, and the best one, 1.
double goodness(const CellGrid& grid, Metric metric, double value);

} // namespace batchscope::ui
