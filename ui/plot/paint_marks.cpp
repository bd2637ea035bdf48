// Painting of limits, arrows and marks, above the curves.
#include <QFontMetricsF>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/clip.h"
#include "ui/plot/detail/paint.h"

namespace batchscope::ui {

namespace {

constexpr double label_gap = 8; ///< px between a mark and its label
constexpr double max_bend = 48; ///< px between an arrow's curve and the straight line

/// Makes a label readable where a curve passes through it.
void clear_behind(const Picture& picture, QCPPainter& painter, const QRectF& place) {
  QColor ground = picture.theme.color(Role::card);
  ground.setAlphaF(0.75F);
  painter.fillRect(place.adjusted(-1, 1, 1, -1), ground);
}

/// Where no mark is under the label; by default at the right end, above the line.
QRectF label_place(const Picture& picture, const QSizeF& size, double y, const Panel& panel, int number) {
  // The square by which a limit is dragged is at its end.
  const bool is_dragged =
      std::any_of(picture.scene.handles.begin(), picture.scene.handles.end(),
                  [&](const PlotHandle& handle) { return handle.panel == number && handle.grip_at_end; });
  const double from_edge = is_dragged ? 18 : 4;
  constexpr double of_mark = 8; // half its size
  const QRectF area = panel.area();
  const double above = y - size.height() - 1;
  const double below = y + 2;
  const double right = area.right() - from_edge - size.width();
  const double left = area.left() + from_edge;
  const QRectF whole = area.adjusted(0, -3, 0, 3);
  std::vector<QRectF> places;
  for (const QPointF& corner :
       {QPointF(right, above), QPointF(right, below), QPointF(left, above), QPointF(left, below)})
    if (const QRectF place(corner, size); whole.contains(place))
      places.push_back(place);
  const auto free = std::find_if(places.begin(), places.end(), [&](const QRectF& place) {
    const auto marks = picture.marks_in_view();
    const QRectF kept = place.adjusted(-of_mark, -of_mark, of_mark, of_mark);
    return std::none_of(marks.begin(), marks.end(), [&](const PlotMark& mark) {
      return mark.panel == number && kept.contains(mark_place(mark, panel));
    });
  });
  return free != places.end() ? *free : places.empty() ? QRectF(QPointF(right, below), size) : places.front();
}

/// Returns the place of its label; empty if there is none in view.
QRectF paint_limit(const Picture& picture, QCPPainter& painter, const PlotLimit& limit, const Panel& panel,
                   int number) {
  const QRectF area = panel.area();
  const double y = std::round(panel.y_pixel(limit.y));
  QPen pen(picture.theme.color(Role::error), 1.5, Qt::SolidLine, Qt::FlatCap);
  pen.setDashPattern({4, 2.5});
  painter.setPen(pen);
  painter.save();
  painter.setClipRect(area.adjusted(0, -1, 0, 1));
  QPolygonF line{QPointF(area.left(), y)};
  for (const PlotLimit::Earlier& earlier : limit.earlier) {
    const double until = panel.x_pixel(earlier.until);
    if (until <= area.left())
      continue;
    line.back().setY(std::round(panel.y_pixel(earlier.y)));
    line << QPointF(until, line.back().y()) << QPointF(until, y);
  }
  painter.drawPolyline(line << QPointF(area.right(), y));
  painter.restore();
  if (!(y >= area.top() - 1) || y > area.bottom() + 1)
    return {};
  const QFontMetricsF metrics(picture.fonts.bold);
  const QSizeF size(metrics.horizontalAdvance(limit.label) + 2, metrics.height());
  const QRectF place = label_place(picture, size, y, panel, number);
  clear_behind(picture, painter, place);
  painter.setFont(picture.fonts.bold);
  painter.drawText(place, Qt::AlignCenter, limit.label);
  return place;
}

/// Curved, so that it does not cover the line between the two points.
void paint_arrow(const Picture& picture, QCPPainter& painter, const PlotArrow& arrow, const Panel& panel) {
  const QPointF from(panel.x_pixel(arrow.x0), panel.y_pixel(arrow.y0));
  const QPointF to(panel.x_pixel(arrow.x1), panel.y_pixel(arrow.y1));
  const QLineF straight(from, to);
  constexpr double shortest = 14;
  const bool out_of_view = std::max(from.x(), to.x()) + max_bend < panel.area().left() ||
                           std::min(from.x(), to.x()) - max_bend > panel.area().right();
  if (out_of_view || !(straight.length() >= shortest))
    return;
  const QPointF across = QPointF(straight.dy(), -straight.dx()) / straight.length();
  const double bend = std::min(max_bend, straight.length() * 0.22) * (straight.dx() < 0 ? -1 : 1);
  const QPointF control = straight.center() + across * bend;
  const auto beside = [](const QPointF& end, const QPointF& towards) { // leaves the marks at the ends free
    const QLineF line(end, towards);
    return line.pointAt(std::min(0.4, 9 / std::max(1.0, line.length())));
  };
  const QPointF tail = beside(from, control);
  const QPointF head = beside(to, control);
  const QColor color = picture.theme.color(Role::dimmed);
  painter.setPen(QPen(color, 1.3, Qt::SolidLine, Qt::RoundCap));
  QPainterPath path(tail);
  path.quadTo(control, head);
  if (!painter.modes().testFlag(QCPPainter::pmVectorized)) {
    painter.drawPath(path);
  } else { // vector files do not clip
    for (const QPolygonF& line : path.toSubpathPolygons())
      for (const QPolygonF& part : clipped(line, panel.area()))
        painter.drawPolyline(part);
    if (!panel.area().contains(head))
      return;
  }
  QCPLineEnding(QCPLineEnding::esFlatArrow, 6, 6.5).draw(&painter, QCPVector2D(head), QCPVector2D(head - control));
}

QColor mark_color(const Picture& picture, PlotMark::Kind kind) {
  switch (kind) {
  case PlotMark::Kind::oom:
    return picture.theme.color(Role::error);
  case PlotMark::Kind::fits:
    return picture.theme.series(0);
  case PlotMark::Kind::answer:
    return picture.theme.color(Role::accent);
  case PlotMark::Kind::edit:
  case PlotMark::Kind::evaluation:
  case PlotMark::Kind::note:
    break;
  }
  return picture.theme.color(Role::dimmed);
}

void paint_bad_value(QCPPainter& painter, const QPointF& tip, const QColor& color) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({tip, tip + QPointF(-4.5, -8), tip + QPointF(4.5, -8)}));
  painter.setBrush(Qt::NoBrush);
}

/// The symbols of a mark, from back to front.
std::vector<QCPScatterStyle> symbols_of(const Picture& picture, PlotMark::Kind kind) {
  using Style = QCPScatterStyle;
  const QColor color = mark_color(picture, kind);
  const QColor card = picture.theme.color(Role::card);
  switch (kind) {
  case PlotMark::Kind::oom:
    return {{Style::ssCross, QPen(card, 5, Qt::SolidLine, Qt::RoundCap), Qt::NoBrush, 8},
            {Style::ssCross, QPen(color, 2.2, Qt::SolidLine, Qt::RoundCap), Qt::NoBrush, 8}};
  case PlotMark::Kind::edit:
    return {{Style::ssDiamond, QPen(card, 1.5), color, 12}};
  case PlotMark::Kind::evaluation:
    return {{Style::ssCircle, QPen(color, 1.5), card, 6}};
  case PlotMark::Kind::fits:
    return {{Style::ssCircle, QPen(card, 1.5), color, 10}};
  case PlotMark::Kind::answer: {
    QPainterPath square;
    square.addRoundedRect(-4.5, -4.5, 9, 9, 2, 2);
    return {{square, QPen(color, 1.8), card}};
  }
  case PlotMark::Kind::note:
    return {{Style::ssCircle, QPen(color, 1.5), Qt::NoBrush, 14}}; // around what is there
  }
  return {};
}

/// A ring around the selected mark.
QCPScatterStyle ring(const Picture& picture) {
  return {QCPScatterStyle::ssCircle, QPen(picture.theme.color(Role::accent), 1.8), picture.theme.color(Role::chosen),
          20};
}

void paint_through(const Picture& picture, QCPPainter& painter, const PlotMark& mark) {
  const QRectF stack = picture.stack();
  const double width = picture.scene.chosen == mark.id ? 2.5 : 1.5;
  QPen pen(mark_color(picture, mark.kind), width, Qt::SolidLine, Qt::FlatCap);
  pen.setDashPattern({2 / width, 3 / width});
  painter.setPen(pen);
  const double x = std::round(picture.x_pixel(mark.x));
  const double top = stack.top() - 0.5; // whole pixels for the dots
  painter.drawLine(QPointF(x, top), QPointF(x, stack.bottom()));
}

/// Places labels where there is no other label or mark.
class Labels {
public:
  Labels(const Picture& picture, QCPPainter& painter) : picture_(picture), painter_(painter) {}

  void keep_free(const QRectF& place) { taken_.push_back(place); }

  void put(const QString& text, const QPointF& at, const QRectF& area, const QColor& color) {
    const QFontMetricsF metrics(picture_.fonts.bold);
    const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
    const double right = at.x() + label_gap;
    const double left = at.x() - label_gap - size.width();
    const double below = at.y() + 2;
    const double above = at.y() - size.height() - 2;
    for (const QPointF& corner : {QPointF(right, below), QPointF(left, above), QPointF(right, above),
                                  QPointF(left, below), QPointF(at.x() - size.width() / 2, above - label_gap),
                                  QPointF(at.x() - size.width() / 2, below + label_gap)}) {
      const QRectF place(corner, size);
      const auto meets = [&](const QRectF& other) { return other.intersects(place); };
      if (!area.adjusted(-2, -4, 8, 2).contains(place) || std::any_of(taken_.begin(), taken_.end(), meets))
        continue;
      taken_.push_back(place);
      clear_behind(picture_, painter_, place);
      painter_.setFont(picture_.fonts.bold);
      painter_.setPen(color);
      painter_.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, text);
      return;
    }
  }

private:
  const Picture& picture_;
  QCPPainter& painter_;
  std::vector<QRectF> taken_;
};

/// The visible marks of a panel; of many in one column of pixels, only one per kind.
std::vector<const PlotMark*> visible_marks(const Picture& picture, const Panel& panel, int number) {
  std::vector<const PlotMark*> marks;
  std::array<QPointF, 8> last;
  last.fill({-1e9, -1e9});
  for (const PlotMark& mark : picture.marks_in_view()) {
    if (mark.panel != -1 && mark.panel != number)
      continue;
    QPointF& before = last[static_cast<std::size_t>(mark.kind)];
    const QPointF at = mark_place(mark, panel);
    const bool needed = picture.scene.chosen == mark.id || !mark.label.isEmpty();
    if (!needed && std::abs(at.x() - before.x()) < 2 && std::abs(at.y() - before.y()) < 2)
      continue;
    before = at;
    marks.push_back(&mark);
  }
  return marks;
}

void paint_marks_of(const Picture& picture, QCPPainter& painter, const Panel& panel, int number, Labels& labels) {
  const QRectF area = panel.area();
  const auto marks = visible_marks(picture, panel, number);
  for (const PlotMark* mark : marks) {
    const QPointF at = mark_place(*mark, panel);
    if (!area.adjusted(-1, -1, 1, 1).contains(at))
      continue;
    if (picture.scene.chosen == mark->id)
      paint_symbol(painter, ring(picture), at);
    for (const QCPScatterStyle& symbol : symbols_of(picture, mark->kind))
      paint_symbol(painter, symbol, at);
    labels.keep_free(QRectF(at - QPointF(6, 6), QSizeF(12, 12)));
  }
  for (const PlotMark* mark : marks) {
    const QPointF at = mark_place(*mark, panel);
    if (mark->label.isEmpty() || !area.adjusted(-1, -1, 1, 1).contains(at))
      continue;
    const bool colored = mark->kind == PlotMark::Kind::oom;
    labels.put(mark->label, at, area, colored ? picture.theme.color(Role::error) : picture.theme.color(Role::text));
  }
}

/// Marks values that are not finite at the upper edge; a stretch of them as one mark with a bar.
void paint_bad_values(const Picture& picture, QCPPainter& painter, const Panel& panel, int number) {
  constexpr double apart = 10; // px
  const QColor color = picture.theme.color(Role::warning);
  const double top = panel.area().top();
  const auto paint_stretch = [&](double from, double to) {
    paint_bad_value(painter, {from, top + 6}, color);
    painter.setAntialiasing(false);
    if (to - from >= 1)
      painter.fillRect(QRectF(from, top - 2, to - from, 2), color);
    painter.setAntialiasing(true);
  };
  for (const auto& curve : picture.curves) {
    if (curve->panel != number || curve->hidden)
      continue;
    std::optional<Range> stretch;
    for (const double x : curve->samples.bad_x) {
      if (!picture.in_view(x))
        continue;
      const double pixel = panel.x_pixel(x);
      if (stretch && pixel - stretch->second > apart)
        paint_stretch(stretch->first, stretch->second);
      if (!stretch || pixel - stretch->second > apart)
        stretch = Range(pixel, pixel);
      stretch->second = pixel;
    }
    if (stretch)
      paint_stretch(stretch->first, stretch->second);
  }
}

} // namespace

QPointF mark_place(const PlotMark& mark, const Panel& panel) {
  constexpr double from_top = 12; // px, if it has no y
  const QRectF area = panel.area();
  const bool placed = mark.y && (!panel.log || *mark.y > 0);
  return {panel.x_pixel(mark.x), placed ? panel.y_pixel(*mark.y) : area.top() + from_top};
}

void paint_lines(const Picture& picture, QCPPainter& painter) {
  const PlotMark* before = nullptr;
  for (const PlotMark& mark : picture.marks_in_view()) {
    if (!mark.through)
      continue;
    // Draws only one of many marks in a column of pixels, and the selected one.
    const bool covered = before && before->kind == mark.kind && picture.scene.chosen != mark.id &&
                         std::round(picture.x_pixel(before->x)) == std::round(picture.x_pixel(mark.x));
    if (!covered)
      paint_through(picture, painter, mark);
    before = &mark;
  }
}

void paint_marks(const Picture& picture, QCPPainter& painter) {
  picture.each_panel([&](const Panel& panel, int number) {
    Labels labels(picture, painter);
    for (const PlotLimit& limit : picture.scene.limits)
      if (limit.panel == number)
        labels.keep_free(paint_limit(picture, painter, limit, panel, number));
    painter.save();
    painter.setClipRect(panel.area());
    for (const PlotArrow& arrow : picture.scene.arrows)
      if (arrow.panel == number)
        paint_arrow(picture, painter, arrow, panel);
    painter.restore();
    paint_bad_values(picture, painter, panel, number);
    paint_marks_of(picture, painter, panel, number, labels);
  });
}

} // namespace batchscope::ui
