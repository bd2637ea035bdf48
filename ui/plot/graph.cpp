#include "ui/plot/detail/graph.h"

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

namespace {

constexpr double furthest = 20'000; ///< px: the painter's arithmetic is exact up to here
constexpr int chunk = 48;           ///< points of a polyline at once: a long one that crosses itself costs much more

bool broken(const QPointF& point) {
  return std::isnan(point.x()) || std::isnan(point.y());
}

QPointF within(const QPointF& point) {
  return {std::clamp(point.x(), -furthest, furthest), std::clamp(point.y(), -furthest, furthest)};
}

/// Points that belong together as one line.
class Stroke {
public:
  Stroke(QCPPainter& painter, bool in_chunks) : painter_(painter), in_chunks_(in_chunks) {}

  void add(const QPointF& point) { points_.push_back(within(point)); }
  bool empty() const { return points_.isEmpty(); }
  int size() const { return static_cast<int>(points_.size()); }
  const QPointF& back() const { return points_.back(); }
  void clear() { points_.clear(); }

  void draw() {
    if (points_.isEmpty())
      return;
    if (is_dot())
      draw_dot();
    else if (!in_chunks_)
      painter_.drawPolyline(points_.constData(), size());
    else
      for (int i = 0; i < size() - 1; i += chunk)
        painter_.drawPolyline(points_.constData() + i, std::min(chunk + 1, size() - i));
    clear();
  }

private:
  bool is_dot() const {
    return std::all_of(points_.begin(), points_.end(), [this](const QPointF& point) {
      return std::abs(point.x() - points_.front().x()) < 0.5 && std::abs(point.y() - points_.front().y()) < 0.5;
    });
  }

  // A value without neighbours has no line, but it is there.
  void draw_dot() {
    painter_.save();
    const double radius = painter_.pen().widthF() / 2 + 1;
    painter_.setBrush(painter_.pen().color());
    painter_.setPen(Qt::NoPen);
    painter_.drawEllipse(points_.front(), radius, radius);
    painter_.restore();
  }

  QCPPainter& painter_;
  bool in_chunks_;
  QPolygonF points_;
};

/// The points without those in the middle of a level stretch. The levels of a staircase are put onto whole pixels,
/// where they are sharp.
QVector<QPointF> corners(const QVector<QPointF>& points, bool steps) {
  QVector<QPointF> corners;
  corners.reserve(points.size());
  for (const QPointF& point : points) {
    const QPointF corner(point.x(), steps ? std::round(point.y()) : point.y());
    const qsizetype count = corners.size();
    if (count > 1 && corners[count - 1].y() == corner.y() && corners[count - 2].y() == corner.y())
      corners[count - 1] = corner;
    else
      corners.push_back(corner);
  }
  return corners;
}

/// All points of a line in one column of pixels.
struct PixelColumn {
  int x = 0;
  double first = 0, last = 0, low = 0, high = 0;
};

} // namespace

void Graph::drawLinePlot(QCPPainter* painter, const QVector<QPointF>& all) const {
  const QVector<QPointF> points = corners(all, steps_);
  if (points.isEmpty())
    return;
  const double columns = std::clamp(std::abs(points.back().x() - points.front().x()), 1.0, furthest);
  const double a_column = static_cast<double>(points.size()) / columns;
  const bool dense = a_column > (dashed_ ? 1.5 : 2) && points.size() > 200;
  painter->setAntialiasing(true);
  if (dense && !painter->modes().testFlag(QCPPainter::pmVectorized))
    draw_dense(*painter, points);
  else
    draw_sparse(*painter, points);
}

void Graph::draw_sparse(QCPPainter& painter, const QVector<QPointF>& points) const {
  Stroke stroke(painter, painter.pen().style() == Qt::SolidLine && !painter.modes().testFlag(QCPPainter::pmVectorized));
  for (const QPointF& point : points) {
    if (broken(point))
      stroke.draw();
    else
      stroke.add(point);
  }
  stroke.draw();
}

void Graph::draw_dense(QCPPainter& painter, const QVector<QPointF>& points) const {
  constexpr double thin = 2; // px: up to here a column is a point of a line
  constexpr int dash = 9, gap = 4;
  QPen pen = painter.pen();
  pen.setStyle(Qt::SolidLine);
  painter.setPen(pen);
  QVector<QRectF> bars;
  Stroke stroke(painter, true);
  bool leads_on = false; // the stroke is but the end of the bar before
  for (qsizetype i = 0; i < points.size();) {
    if (broken(points[i])) {
      leads_on ? stroke.clear() : stroke.draw();
      leads_on = false;
      ++i;
      continue;
    }
    const QPointF first = within(points[i]);
    PixelColumn column{static_cast<int>(std::floor(first.x())), first.y(), first.y(), first.y(), first.y()};
    for (; i < points.size() && !broken(points[i]); ++i) {
      const QPointF point = within(points[i]);
      if (static_cast<int>(std::floor(point.x())) != column.x)
        break;
      column.last = point.y();
      column.low = std::min(column.low, point.y());
      column.high = std::max(column.high, point.y());
    }
    if (dashed_ && column.x % (dash + gap) >= dash) {
      leads_on ? stroke.clear() : stroke.draw();
      leads_on = false;
      continue;
    }
    if (column.high - column.low <= thin) {
      stroke.add({static_cast<double>(column.x), (column.low + column.high) / 2});
      leads_on = false;
      continue;
    }
    if (leads_on) {
      column.low = std::min(column.low, stroke.back().y());
      column.high = std::max(column.high, stroke.back().y());
      stroke.clear();
    } else if (!stroke.empty()) {
      stroke.add({static_cast<double>(column.x), std::clamp(stroke.back().y(), column.low, column.high)});
      stroke.draw();
    }
    bars.push_back(QRectF(column.x, column.low, 1, std::max(1.0, column.high - column.low)));
    stroke.add({static_cast<double>(column.x), column.last});
    leads_on = true;
  }
  if (!leads_on)
    stroke.draw();
  painter.setAntialiasing(false);
  // Whole pixels of the device: the cheapest of all, and sharp.
  const double scale = painter.deviceTransform().m11();
  const double width = std::max(1.0, std::floor(pen.widthF() * scale)) / scale;
  const double beside = std::round((0.5 - width / 2) * scale) / scale;
  for (const QRectF& bar : bars)
    painter.fillRect(QRectF(bar.left() + beside, bar.top(), width, bar.height()), pen.color());
}

void Graph::drawScatterPlot(QCPPainter* painter, const QVector<QPointF>& points, const QCPScatterStyle& style) const {
  painter->setAntialiasing(true);
  style.applyTo(painter, mPen);
  for (const QPointF& point : points)
    if (!broken(point))
      style.drawShape(painter, point);
}

} // namespace batchscope::ui
