#include "ui/plot/detail/canvas.h"

namespace batchscope::ui {

Canvas::Canvas(QWidget* parent, std::function<void()> shown) : QCustomPlot(parent), shown_(std::move(shown)) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
  setNotAntialiasedElements(QCP::aeAxes | QCP::aeGrid);
  setAutoAddPlottableToLegend(false);
  addLayer(layers::faint, layer(QStringLiteral("grid")), limAbove);
  addLayer(layers::front, layer(layers::main), limAbove);
  addLayer(layers::marks, layer(QStringLiteral("legend")), limAbove);
  plotLayout()->clear();
  plotLayout()->setRowSpacing(0);
}

void Canvas::resizeEvent(QResizeEvent*) {
  setViewport(rect());
}

void Canvas::paintEvent(QPaintEvent*) {
  QCPPainter painter(this);
  for (qsizetype i = 0; i < mPaintBuffers.size(); ++i)
    if (i + 1 < mPaintBuffers.size() || top_used_)
      mPaintBuffers[i]->draw(&painter);
  painter.end();
  shown_();
}

Painted::Painted(Canvas* canvas, const QString& layer, std::function<void(QCPPainter&)> paint)
    : QCPLayerable(canvas, layer), paint_(std::move(paint)) {}

void Painted::applyDefaultAntialiasingHint(QCPPainter* painter) const {
  painter->setAntialiasing(true);
}

void Painted::draw(QCPPainter* painter) {
  paint_(*painter);
}

} // namespace batchscope::ui
