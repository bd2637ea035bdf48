#pragma once

#include <QFontMetricsF>
#include <QRectF>
#include <QString>

#include <vector>

#include "ui/sweep/cell_grid.h"

namespace batchscope::ui {

/// Where the cells and titles of a grid are drawn in a widget. A plain value.
struct CellLayout {
  struct Label {
    QRectF place;
    QString text;
    Qt::Alignment alignment;
    bool strong = true; ///< else dimmed and small
  };
  std::vector<QRectF> cells; ///< by cell
  std::vector<Label> labels;
  double line = 16;   ///< height of a line of text, px
  QSizeF cell;        ///< size of each
  bool whole = false; ///< cells have room for mean, spread and bars
  bool brief = false; ///< at least for the mean
};

CellLayout layout_of(const CellGrid& grid, const QSizeF& room, const QFontMetricsF& metrics);

} // namespace batchscope::ui
