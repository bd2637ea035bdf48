#pragma once

#include <functional>

#include "ui/plot/detail/plotting_library.h"
#include "ui/plot/detail/ticks.h"

// What is needed of the plotting library beyond what it brings.
namespace batchscope::ui {

/// Names of the library's layers, from the back to the front. The last one is painted by itself: the crosshair moves
/// without the curves being drawn again.
namespace layers {
inline const QString back = QStringLiteral("background");
inline const QString faint = QStringLiteral("faint");
inline const QString main = QStringLiteral("main");
inline const QString front = QStringLiteral("front");
inline const QString marks = QStringLiteral("marks");
inline const QString top = QStringLiteral("overlay");
} // namespace layers

/// Draws when told and only then; takes no events. What is on the layers below the top one covers all of it.
class Canvas : public QCustomPlot {
public:
  /// `shown` is called whenever the window system wants to see it.
  Canvas(QWidget* parent, std::function<void()> shown);

  /// Whether anything is on the top layer; where nothing is, it need not be put on the screen.
  void set_top_used(bool used) { top_used_ = used; }

protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

private:
  std::function<void()> shown_;
  bool top_used_ = false;
};

/// Something on a layer that a function paints.
class Painted : public QCPLayerable {
public:
  Painted(Canvas* canvas, const QString& layer, std::function<void(QCPPainter&)> paint);

protected:
  /// All of the canvas: what is drawn may not leave this, moved up by a pixel.
  QRect clipRect() const override { return mParentPlot->viewport().adjusted(0, 0, 0, 2); }
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
  void draw(QCPPainter* painter) override;

private:
  std::function<void(QCPPainter&)> paint_;
};

/// Shows ticks that were chosen before.
class ChosenTicks : public QCPAxisTicker {
public:
  void set(const Ticks& ticks) { ticks_ = ticks; }
  const Ticks& ticks() const { return ticks_; }

  void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override;

private:
  Ticks ticks_;
};

} // namespace batchscope::ui
