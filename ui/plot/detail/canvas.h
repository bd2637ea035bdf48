#pragma once

#include <functional>

#include "ui/plot/detail/plotting_library.h"

// Extensions of the plotting library.
namespace batchscope::ui {

/// Names of the library's layers, from back to front. The last one is painted separately: the crosshair moves without
/// redrawing the curves.
namespace layers {
inline const QString back = QStringLiteral("background");
inline const QString faint = QStringLiteral("faint");
inline const QString main = QStringLiteral("main");
inline const QString front = QStringLiteral("front");
inline const QString marks = QStringLiteral("marks");
inline const QString top = QStringLiteral("overlay");
} // namespace layers

/// Draws only when told to; takes no events. The layers below the top one cover its whole area.
class Canvas : public QCustomPlot {
public:
  /// `shown` is called whenever the window system requests a paint.
  Canvas(QWidget* parent, std::function<void()> shown);

  /// Whether the top layer has content; an empty one need not be drawn.
  void set_top_used(bool used) { top_used_ = used; }

protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

private:
  std::function<void()> shown_;
  bool top_used_ = false;
};

/// An item on a layer, painted by a function.
class Painted : public QCPLayerable {
public:
  Painted(Canvas* canvas, const QString& layer, std::function<void(QCPPainter&)> paint);

protected:
  /// The whole canvas: drawing is clipped to this rectangle, moved up by one pixel.
  QRect clipRect() const override { return mParentPlot->viewport().adjusted(0, 0, 0, 2); }
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
  void draw(QCPPainter* painter) override;

private:
  std::function<void(QCPPainter&)> paint_;
};

} // namespace batchscope::ui
