#include "ui/sweep/cell_layout.h"
#include "ui/widgets/elide.h"

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

namespace {

// In lines of text.
constexpr double widest = 13, highest = 9; // of a cell
constexpr double whole_width = 5, whole_height = 3.3;
constexpr double brief_width = 2.9, brief_height = 1.1;
constexpr double best_shape = 1.75; ///< width to height
constexpr double panel_gap = 1.2;
constexpr double small_text = 0.9;

/// How many cells and what titles a panel has.
struct PanelShape {
  int columns = 1, rows = 1;
  double left = 0, top = 0; ///< room of the titles, px
};

double text_width(const QStringList& texts, const QFontMetricsF& metrics) {
  double width = 0;
  for (const QString& text : texts)
    width = std::max(width, metrics.horizontalAdvance(text));
  return width;
}

double gap_of(double cell, double line) {
  return cell > 2 * line ? std::round(0.5 * line) : cell > 8 ? 2 : cell > 4 ? 1 : 0;
}

/// Size of a cell if panels are beside each other in so many columns.
QSizeF cell_size(const PanelShape& shape, int across, int down, const QSizeF& room, double line) {
  const double width = (room.width() - panel_gap * line * (across - 1)) / across - shape.left;
  const double height = (room.height() - panel_gap * line * (down - 1)) / down - shape.top;
  return {std::min(width / shape.columns, widest * line), std::min(height / shape.rows, highest * line)};
}

/// In how many columns panels, or cells that flow, get the largest cells.
int best_columns(int count, const std::function<QSizeF(int)>& size_of) {
  int best = 1;
  double most = 0;
  for (int columns = 1; columns <= count; ++columns) {
    const QSizeF size = size_of(columns);
    const double worth = std::min(size.width() / best_shape, size.height());
    if (worth > most * 1.0001) {
      most = worth;
      best = columns;
    }
  }
  return best;
}

} // namespace

CellLayout layout_of(const CellGrid& grid, const QSizeF& room, const QFontMetricsF& metrics) {
  CellLayout layout;
  layout.line = metrics.height();
  const double line = layout.line;
  const int count = static_cast<int>(grid.cells.size());
  if (count == 0 || room.width() < line || room.height() < line)
    return layout;
  PanelShape shape;
  const bool notes = !grid.columns.notes.join(QString()).isEmpty();
  const bool panels = grid.panels.size() > 1;
  if (grid.flows) {
    shape.columns = best_columns(count, [&](int columns) {
      return QSizeF(std::min(room.width() / columns, widest * line),
                    std::min(room.height() / std::ceil(static_cast<double>(count) / columns), highest * line));
    });
    shape.rows = (count + shape.columns - 1) / shape.columns;
  } else {
    shape.columns = std::max<int>(static_cast<int>(grid.columns.values.size()), 1);
    shape.rows = std::max<int>(static_cast<int>(grid.rows.values.size()), 1);
    if (!grid.rows.values.isEmpty())
      shape.left = std::min(text_width(grid.rows.values, metrics) * 1.08 + 0.8 * line, room.width() / 4);
    if (!grid.columns.values.isEmpty())
      shape.top = (notes ? 2.3 : 1.3) * line;
    if (panels)
      shape.top += 1.4 * line;
  }
  const auto panel_count = static_cast<int>(std::max<qsizetype>(grid.panels.size(), 1));
  const int across = best_columns(panel_count, [&](int columns) {
    return cell_size(shape, columns, (panel_count + columns - 1) / columns, room, line);
  });
  const int down = (panel_count + across - 1) / across;
  const QSizeF pitch = cell_size(shape, across, down, room, line);
  const QSizeF gaps(gap_of(pitch.width(), line), gap_of(pitch.height(), line));
  layout.cell = {std::max(pitch.width() - gaps.width(), 1.0), std::max(pitch.height() - gaps.height(), 1.0)};
  layout.whole = layout.cell.width() >= whole_width * line && layout.cell.height() >= whole_height * line;
  layout.brief = layout.cell.width() >= brief_width * line && layout.cell.height() >= brief_height * line;
  const QSizeF panel(shape.left + pitch.width() * shape.columns, shape.top + pitch.height() * shape.rows);
  const double spare = room.width() - (panel.width() + panel_gap * line) * across + panel_gap * line;
  const double left = std::max(spare / 2, 0.0);
  const auto origin = [&](int index) {
    return QPointF(left + (panel.width() + panel_gap * line) * (index % across),
                   (panel.height() + panel_gap * line) * (index / across));
  };
  for (int i = 0; i < count; ++i) {
    const Cell& cell = grid.cells[static_cast<std::size_t>(i)];
    const QPointF at = origin(cell.panel) + QPointF(shape.left, shape.top);
    const int column = grid.flows ? i % shape.columns : cell.column;
    const int row = grid.flows ? i / shape.columns : cell.row;
    layout.cells.emplace_back(at + QPointF(column * pitch.width(), row * pitch.height()), layout.cell);
  }
  // Titles that have no room for themselves are left out, all but every nth.
  const auto every = [](double needed, double there) {
    return std::max(1, static_cast<int>(std::ceil(needed / there)));
  };
  const int columns_shown = every(text_width(grid.columns.values, metrics) * 1.08, pitch.width());
  const int rows_shown = every(line, pitch.height());
  const bool notes_fit = text_width(grid.columns.notes, metrics) * small_text <= pitch.width();
  for (int index = 0; index < panel_count && !grid.flows; ++index) {
    const QPointF at = origin(index);
    const double titles = at.y() + (panels ? 1.4 * line : 0);
    if (panels)
      layout.labels.push_back({{at.x() + shape.left, at.y(), panel.width() - shape.left, 1.2 * line},
                               fitted_text(grid.panels[index], metrics, panel.width() - shape.left, Qt::ElideRight),
                               Qt::AlignLeft | Qt::AlignVCenter,
                               false});
    for (int column = 0; column < static_cast<int>(grid.columns.values.size()); ++column) {
      const double x = at.x() + shape.left + pitch.width() * column;
      if (column % columns_shown == 0)
        layout.labels.push_back({{x, titles, layout.cell.width() + (columns_shown - 1) * pitch.width(), 1.2 * line},
                                 grid.columns.values[column],
                                 (columns_shown > 1 ? Qt::AlignLeft : Qt::AlignHCenter) | Qt::AlignVCenter});
      if (notes && notes_fit)
        layout.labels.push_back({{x, titles + 1.05 * line, layout.cell.width(), 1.1 * line},
                                 grid.columns.notes[column],
                                 Qt::AlignCenter,
                                 false});
    }
    for (int row = 0; row < static_cast<int>(grid.rows.values.size()); row += rows_shown)
      layout.labels.push_back({{at.x(), at.y() + shape.top + pitch.height() * row, shape.left - 0.6 * line,
                                std::max(layout.cell.height(), line)},
                               fitted_text(grid.rows.values[row], metrics, shape.left - 0.6 * line, Qt::ElideRight),
                               Qt::AlignRight | Qt::AlignVCenter});
  }
  return layout;
}

} // namespace batchscope::ui
