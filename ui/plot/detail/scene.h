#pragma once

#include <array>
#include <optional>
#include <span>

#include "ui/plot/detail/view.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// Everything drawn above the curves.
struct Scene {
  QList<PlotMark> marks; ///< in ascending order of x
  QList<PlotLimit> limits;
  QList<PlotArrow> arrows;
  QList<PlotBand> bands;
  QList<PlotHandle> handles;
  std::optional<double> future;
  std::optional<double> end; ///< the x axis extends at least to here
  QString x_label;
  QString caption;            ///< above the plots in pictures
  bool shared_legend = false; ///< one above all panels

  std::optional<qint64> chosen;         ///< selected mark
  std::optional<qint64> hovered_handle; ///< under the pointer
  std::optional<qint64> focused_handle; ///< moved with the keys
  std::optional<qint64> dragged_handle;
  double dragged_to = 0; ///< current y of the dragged handle, whatever its owner sets meanwhile
  std::optional<double> crosshair;
  bool crosshair_values = false; ///< shown beside the curves
  std::array<std::optional<double>, 2> cursors;
  std::optional<Range> zooming; ///< x range being selected with the pointer
  bool focus = false;           ///< the widget has the keyboard focus, and shows it
  bool in_file = false;         ///< painting into a file: without pointer and focus items

  PlotHandle* handle(std::optional<qint64> id);
  const PlotMark* mark(std::optional<qint64> id) const;
  /// The marks with from <= x <= to; there may be very many others.
  std::span<const PlotMark> marks_within(const Range& x) const;
  /// The cursors in ascending order of x, if both are set.
  std::optional<Range> between_cursors() const;
};

} // namespace batchscope::ui
