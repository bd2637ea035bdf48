#pragma once

#include <memory>
#include <vector>

#include "ui/plot/detail/panel.h"

// Painting of everything around, under and above the curves. Coordinates are canvas pixels.
namespace batchscope::ui {

/// Fonts of a plot, derived from the widget's.
struct PlotFonts {
  explicit PlotFonts(const QFont& font);

  QFont small; ///< ticks, legends
  QFont bold;  ///< titles, labels
};

/// Everything that painting needs.
struct Picture {
  const Theme& theme;
  const Scene& scene;
  const View& view;
  const PlotFonts& fonts;
  const std::vector<std::unique_ptr<Panel>>& panels;
  const std::vector<std::unique_ptr<Curve>>& curves;
  QRectF whole; ///< the canvas

  /// Calls `paint(panel, number)` for the visible panels.
  template <typename Paint> void each_panel(const Paint& paint) const {
    for (std::size_t i = 0; i < panels.size(); ++i)
      if (panels[i]->visible)
        paint(*panels[i], static_cast<int>(i));
  }
  /// From the top of the first panel to the bottom of the last; empty without panels.
  QRectF stack() const;
  double x_pixel(double x) const;
  double x_value(double pixel) const;
  std::span<const PlotMark> marks_in_view() const { return scene.marks_within(view.range()); }
  bool in_view(double x) const { return x >= view.range().first && x <= view.range().second; }
};

/// A legend entry, as drawn.
struct LegendEntry {
  const Curve* curve = nullptr;
  QString text; ///< shortened if space is short
  QRectF place; ///< of sample and text
};
/// From left to right; in a file without hidden entries. Of a panel none if the legend is shared.
std::vector<LegendEntry> legend(const Picture& picture, const Panel& panel, int number);
/// One entry for each name, in rows above the first panel; none if the legend is not shared.
std::vector<LegendEntry> shared_legend(const Picture& picture);
/// Height of its rows in plots of this width; 0 if it is not shared.
double shared_legend_height(const Picture& picture, double width);

/// Height of the strip above a panel that holds title and legend.
double strip_height(const PlotFonts& fonts);

void paint_back(const Picture& picture, QCPPainter& painter);   ///< background, tints and bands
void paint_strips(const Picture& picture, QCPPainter& painter); ///< titles, legends, x label
void paint_lines(const Picture& picture, QCPPainter& painter); ///< lines of marks through all panels; before the strips
void paint_marks(const Picture& picture, QCPPainter& painter); ///< limits, arrows, marks
void paint_handles(const Picture& picture, QCPPainter& painter); ///< on the top layer
void paint_top(const Picture& picture, QCPPainter& painter);     ///< crosshair, cursors, focus frame

/// Position of a mark in a panel that shows it.
QPointF mark_place(const PlotMark& mark, const Panel& panel);
/// The visible part of a handle; nothing if it is out of view.
std::optional<QLineF> handle_stretch(const Picture& picture, const PlotHandle& handle);
/// The middle of the square by which it is grabbed.
QPointF grip_of(const PlotHandle& handle, const QLineF& stretch);

/// The caption above the plots in a picture, and its height; 0 without a caption.
double caption_height(const Picture& picture);
void paint_caption(const Picture& picture, QPainter& painter, double width);

void paint_symbol(QCPPainter& painter, const QCPScatterStyle& symbol, const QPointF& at);

/// Text in a small frame, kept inside the canvas.
void paint_pill(const Picture& picture, QCPPainter& painter, const QString& text, const QPointF& middle,
                const QColor& ground, const QColor& ink, const QColor& frame);

} // namespace batchscope::ui
