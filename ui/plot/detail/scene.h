#pragma once

#include <array>
#include <optional>
#include <span>

#include "ui/plot/detail/view.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// What is upon the curves.
struct Scene {
  QList<PlotMark> marks; ///< in the order of x
  QList<PlotLimit> limits;
  QList<PlotArrow> arrows;
  QList<PlotBand> bands;
  QList<PlotHandle> handles;
  std::optional<double> future;
  std::optional<double> end; ///< the x axis reaches at least up to here
  QString x_label;
  QString caption; ///< over the plots in pictures

  std::optional<qint64> chosen;         ///< mark
  std::optional<qint64> hovered_handle; ///< the pointer is on it
  std::optional<qint64> focused_handle; ///< the keys move it
  std::optional<qint64> dragged_handle;
  double dragged_to = 0; ///< y that the dragged handle has, whatever its owner says meanwhile
  std::optional<double> crosshair;
  bool crosshair_values = false; ///< written beside the curves
  std::array<std::optional<double>, 2> cursors;
  std::optional<Range> zooming; ///< x being chosen with the pointer
  bool focus = false;           ///< the keyboard's focus is here and to be shown
  bool in_file = false;         ///< painted into a file: without what belongs to the pointer and the keys

  PlotHandle* handle(std::optional<qint64> id);
  const PlotMark* mark(std::optional<qint64> id) const;
  /// Those with from <= x <= to: there may be very many others.
  std::span<const PlotMark> marks_within(const Range& x) const;
  /// The cursors in the order of x, where there are two.
  std::optional<Range> between_cursors() const;
};

} // namespace batchscope::ui
