#include "ui/plot/detail/graph.h"

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/clip.h"

namespace batchscope::ui {

namespace {

constexpr double furthest = 20'000; ///< px: the painter's arithmetic is exact up to here
bool broken(const QPointF& point) {
  return std::isnan(point.x()) || std::isnan(point.y());
}

QPointF within(const QPointF& point) {
  return {std::clamp(point.x(), -furthest, furthest), std::clamp(point.y(), -furthest, furthest)};
}

/// Consecutive points of one line. Each segment is drawn separately, which costs a hundredth of drawing a whole line
/// that goes up and down; square caps close the corners.
class Stroke {
public:
  /// In a vector file, which has no clipping of its own, draws only what lies in `area`.
  Stroke(QCPPainter& painter, const QRectF& area)
      : painter_(painter), area_(area), in_pieces_(!painter.modes().testFlag(QCPPainter::pmVectorized)) {}

  void add(const QPointF& point) { points_.push_back(within(point)); }
  bool empty() const { return points_.isEmpty(); }
  const QPointF& back() const { return points_.back(); }
  void clear() { points_.clear(); }

  void draw() {
    if (points_.isEmpty())
      return;
    if (is_dot()) {
      if (in_pieces_ || area_.contains(points_.front()))
        draw_dot();
    } else if (in_pieces_) {
      draw_pieces();
    } else {
      for (const QPolygonF& part : clipped(points_, area_))
        painter_.drawPolyline(part);
    }
    clear();
  }

private:
  bool is_dot() const {
    return std::all_of(points_.begin(), points_.end(), [this](const QPointF& point) {
      return std::abs(point.x() - points_.front().x()) < 0.5 && std::abs(point.y() - points_.front().y()) < 0.5;
    });
  }

  // A single value without neighbours is drawn as a dot.
  void draw_dot() {
    painter_.save();
    const double radius = painter_.pen().widthF() / 2 + 1;
    painter_.setBrush(painter_.pen().color());
    painter_.setPen(Qt::NoPen);
    painter_.drawEllipse(points_.front(), radius, radius);
    painter_.restore();
  }

  // A line that mostly runs up and down looks the same without antialiasing, which is cheap.
  void draw_pieces() {
    constexpr double wild = 12'000; // px of the device
    double length = 0;
    for (qsizetype i = 0; i + 1 < points_.size(); ++i)
      length += (points_[i + 1] - points_[i]).manhattanLength();
    const bool smooth = length * painter_.deviceTransform().m11() <= wild;
    painter_.save();
    QPen pen = painter_.pen();
    const bool dashed = pen.style() != Qt::SolidLine;
    const QVector<QLineF> pieces = dashed ? dashes(pen) : smooth ? QVector<QLineF>() : whole_pieces();
    pen.setStyle(Qt::SolidLine);
    pen.setCapStyle(dashed ? Qt::FlatCap : Qt::SquareCap);
    pen.setJoinStyle(Qt::MiterJoin); // becomes a bevel where it would be a spike
    if (!smooth)
      pen.setWidthF(std::max(1.0, std::floor(pen.widthF())));
    painter_.setPen(pen);
    painter_.setAntialiasing(smooth);
    if (smooth && !dashed)
      draw_joined();
    else
      painter_.drawLines(pieces);
    painter_.restore();
  }

  void draw_joined() {
    constexpr qsizetype few = 8; // points: the cost grows with the square of their number
    for (qsizetype i = 0; i + 1 < points_.size(); i += few)
      painter_.drawPolyline(points_.constData() + i, static_cast<int>(std::min(few + 1, points_.size() - i)));
  }

  QVector<QLineF> whole_pieces() const {
    QVector<QLineF> pieces;
    pieces.reserve(points_.size());
    for (qsizetype i = 0; i + 1 < points_.size(); ++i)
      pieces.push_back(QLineF(points_[i], points_[i + 1]));
    return pieces;
  }

  QVector<QLineF> dashes(const QPen& pen) const {
    const QList<qreal> pattern = pen.dashPattern(); // in pen widths: dash, gap, and so on
    QVector<QLineF> pieces;
    qsizetype part = 0;
    double left = pattern[0] * pen.widthF(); // remaining length of that part
    for (qsizetype i = 0; i + 1 < points_.size(); ++i) {
      const QLineF line(points_[i], points_[i + 1]);
      const double length = line.length();
      for (double done = 0; done < length;) {
        const double next = std::min(length, done + left);
        if (part % 2 == 0)
          pieces.push_back(QLineF(line.pointAt(done / length), line.pointAt(next / length)));
        left -= next - done;
        done = next;
        if (left < 1e-3) { // px
          part = (part + 1) % pattern.size();
          left = std::max(0.5, pattern[part] * pen.widthF());
        }
      }
    }
    return pieces;
  }

  QCPPainter& painter_;
  QRectF area_;
  bool in_pieces_;
  QPolygonF points_;
};

/// The points without those inside a level stretch. Levels of a staircase are moved to whole pixels, where they are
/// sharp.
QVector<QPointF> corners(const QVector<QPointF>& points, bool whole_levels) {
  QVector<QPointF> corners;
  corners.reserve(points.size());
  for (const QPointF& point : points) {
    const QPointF corner(point.x(), whole_levels ? std::round(point.y()) : point.y());
    const qsizetype count = corners.size();
    if (count > 1 && corners[count - 1].y() == corner.y() && corners[count - 2].y() == corner.y())
      corners[count - 1] = corner;
    else
      corners.push_back(corner);
  }
  return corners;
}

/// A staircase (two points for each value: as it begins, and where it ends) without its dips: single values, lower than
/// both beside them, after which the line is about as high as before. Smaller last batches of epochs make them.
QVector<QPointF> without_dips(const QVector<QPointF>& points) {
  constexpr double alike = 0.25; // of the dip's depth
  QVector<QPointF> level = points;
  for (qsizetype i = 3; i + 2 < points.size(); i += 2) { // the value's two points are i and i + 1
    const double before = level[i - 2].y(), here = points[i].y(), after = points[i + 2].y();
    const double depth = here - std::max(before, after); // pixels count downwards
    if (depth > 0 && std::abs(after - before) <= alike * depth) {
      level[i].setY(before);
      level[i + 1].setY(before);
    }
  }
  return level;
}

/// All points of a line in one column of pixels.
struct PixelColumn {
  int x = 0;
  double first = 0, last = 0, low = 0, high = 0;
};

} // namespace

void Graph::drawLinePlot(QCPPainter* painter, const QVector<QPointF>& all) const {
  if (!steps_ || dashed_)
    return draw_line(*painter, all);
  const QVector<QPointF> level = without_dips(all);
  if (level != all) {
    painter->save();
    QPen pen = painter->pen();
    constexpr float half = 0.5F;
    QColor color = pen.color();
    color.setAlphaF(half);
    pen.setColor(color);
    pen.setWidthF(1);
    painter->setPen(pen);
    draw_line(*painter, all);
    painter->restore();
  }
  draw_line(*painter, level);
}

void Graph::draw_line(QCPPainter& painter, const QVector<QPointF>& all) const {
  QVector<QPointF> points = corners(all, false);
  if (points.isEmpty())
    return;
  const double columns = std::clamp(std::abs(points.back().x() - points.front().x()), 1.0, furthest);
  const double a_column = static_cast<double>(points.size()) / columns;
  constexpr double rare = 0.1; // fraction of columns: levels this long are noticed as lines
  if (steps_ && a_column < rare)
    points = corners(points, true);
  const bool dense = a_column > (dashed_ ? 1.5 : 2) && points.size() > 200;
  painter.setAntialiasing(true);
  if (dense && !painter.modes().testFlag(QCPPainter::pmVectorized))
    draw_dense(painter, points);
  else
    draw_sparse(painter, points);
}

void Graph::draw_sparse(QCPPainter& painter, const QVector<QPointF>& points) const {
  Stroke stroke(painter, clipRect());
  for (const QPointF& point : points) {
    if (broken(point))
      stroke.draw();
    else
      stroke.add(point);
  }
  stroke.draw();
}

void Graph::draw_dense(QCPPainter& painter, const QVector<QPointF>& points) const {
  constexpr double thin = 2; // px: up to here a column is drawn as a point of the line
  constexpr int dash = 9, gap = 4;
  QPen pen = painter.pen();
  pen.setStyle(Qt::SolidLine);
  painter.setPen(pen);
  QVector<QRectF> bars;
  Stroke stroke(painter, clipRect());
  bool leads_on = false; // the stroke only continues the bar before
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
  // Whole device pixels: the cheapest, and sharp.
  const double scale = painter.deviceTransform().m11();
  const double width = std::max(1.0, std::floor(pen.widthF() * scale)) / scale;
  const double beside = std::round((0.5 - width / 2) * scale) / scale;
  for (const QRectF& bar : bars)
    painter.fillRect(QRectF(bar.left() + beside, bar.top(), width, bar.height()), pen.color());
}

void Graph::drawScatterPlot(QCPPainter* painter, const QVector<QPointF>& points, const QCPScatterStyle& style) const {
  painter->setAntialiasing(true);
  style.applyTo(painter, mPen);
  // The symbols of points at the border are whole.
  const QRectF area = QRectF(clipRect()).adjusted(-1, -1, 1, 1);
  const int beyond = static_cast<int>(std::ceil(style.size() / 2)) + 1;
  painter->save();
  painter->setClipRect(clipRect().adjusted(-beyond, -beyond, beyond, beyond));
  for (const QPointF& point : points)
    if (!broken(point) && area.contains(point))
      style.drawShape(painter, point);
  painter->restore();
}

} // namespace batchscope::ui
