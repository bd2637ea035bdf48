// Painting of what follows pointer and keys.
#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "ui/plot/detail/paint.h"
#include "ui/plot/ticks.h"

namespace batchscope::ui {

namespace {

QColor clear(QColor color, float alpha) {
  color.setAlphaF(alpha);
  return color;
}

void tint(const Picture& picture, QCPPainter& painter, const Range& range) {
  const auto [from, to] = range;
  const double left = picture.x_pixel(std::clamp(from, picture.view.range().first, picture.view.range().second));
  const double right = picture.x_pixel(std::clamp(to, picture.view.range().first, picture.view.range().second));
  painter.setAntialiasing(false);
  picture.each_panel([&](const Panel& panel, int) {
    const QRectF area = panel.area();
    painter.fillRect(QRectF(std::round(left), area.top(), std::round(right) - std::round(left), area.height()),
                     clear(picture.theme.color(Role::accent), 0.10F));
  });
  painter.setAntialiasing(true);
}

void upright(const Picture& picture, QCPPainter& painter, double x, const QPen& pen) {
  const QRectF stack = picture.stack();
  const double pixel = std::round(picture.x_pixel(x));
  painter.setPen(pen);
  painter.drawLine(QPointF(pixel, stack.top()), QPointF(pixel, stack.bottom()));
}

void paint_cursors(const Picture& picture, QCPPainter& painter) {
  if (const auto between = picture.scene.between_cursors())
    tint(picture, painter, *between);
  const QColor color = picture.theme.color(Role::accent);
  const QRectF stack = picture.stack();
  for (std::size_t i = 0; i < picture.scene.cursors.size(); ++i) {
    const auto& x = picture.scene.cursors[i];
    if (!x || !picture.in_view(*x))
      continue;
    upright(picture, painter, *x, QPen(color, 1.3));
    paint_pill(picture, painter, QString::number(i + 1), {std::round(picture.x_pixel(*x)), stack.top() + 1}, color,
               picture.theme.color(Role::on_accent), color);
  }
}

/// A curve's value at the crosshair.
struct Dot {
  QPointF at;
  double value = 0;
  QColor color;
};

/// The values of one panel beside their dots, from top to bottom without overlap.
void paint_values(const Picture& picture, QCPPainter& painter, std::vector<Dot> dots) {
  std::sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.at.y() < b.at.y(); });
  painter.setFont(picture.fonts.small);
  const QFontMetricsF metrics(picture.fonts.small);
  constexpr double away = 9, padding = 3;
  double free_from = -std::numeric_limits<double>::infinity();
  for (const Dot& dot : dots) {
    const QString text = number_text(dot.value);
    QRectF place(0, 0, metrics.horizontalAdvance(text) + 2 * padding, metrics.height());
    place.moveTop(std::max(dot.at.y() - place.height() / 2, free_from));
    place.moveLeft(dot.at.x() + away);
    if (place.right() > picture.stack().right())
      place.moveRight(dot.at.x() - away);
    free_from = place.bottom();
    painter.fillRect(place, clear(picture.theme.color(Role::card), 0.85F));
    painter.setPen(dot.color);
    painter.drawText(place, Qt::AlignCenter, text);
  }
}

/// Dots on the curves at the crosshair.
void paint_dots(const Picture& picture, QCPPainter& painter, double x) {
  std::map<int, std::vector<Dot>> dots;
  const QPen around(picture.theme.color(Role::card), 1.5);
  for (const auto& curve : picture.curves) {
    const Panel& panel = *picture.panels[static_cast<std::size_t>(curve->panel)];
    if (curve->style.name.isEmpty() || curve->hidden || !panel.visible)
      continue;
    const auto y = curve->source->value_at(x);
    if (!y || !std::isfinite(*y) || (panel.log && *y <= 0))
      continue;
    const QPointF at(std::round(picture.x_pixel(x)), panel.y_pixel(*y));
    if (!panel.area().contains(at))
      continue;
    paint_symbol(painter, {QCPScatterStyle::ssCircle, around, curve->color, 8}, at);
    dots[curve->panel].push_back({at, *y, curve->color});
  }
  if (picture.scene.crosshair_values)
    for (auto& [panel, of_panel] : dots)
      paint_values(picture, painter, std::move(of_panel));
}

void paint_crosshair(const Picture& picture, QCPPainter& painter, double x) {
  upright(picture, painter, x, QPen(picture.theme.color(Role::dimmed), 1));
  paint_dots(picture, painter, x);
  const QRectF stack = picture.stack();
  const double height = QFontMetricsF(picture.fonts.small).height();
  paint_pill(picture, painter, x_text(x, picture.view.values()),
             {std::round(picture.x_pixel(x)), stack.bottom() + 7 + height / 2}, picture.theme.color(Role::text),
             picture.theme.color(Role::card), picture.theme.color(Role::text));
}

void paint_handle(const Picture& picture, QCPPainter& painter, const PlotHandle& handle) {
  const auto stretch = handle_stretch(picture, handle);
  if (!stretch)
    return;
  const Scene& scene = picture.scene;
  const bool focused = scene.focused_handle == handle.id;
  const bool held = scene.hovered_handle == handle.id || scene.dragged_handle == handle.id || focused;
  const QColor color = picture.theme.color(handle.good ? Role::accent : Role::error);
  if (held || !handle.good) {
    painter.setPen(QPen(color, held ? 4 : 2.5, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(*stretch);
  }
  constexpr double least = 12; // px: on shorter stretches a square would hide its neighbours
  if (!held && stretch->length() < least)
    return;
  const double half = held ? 5.5 : 4.5;
  const QPointF grip = grip_of(handle, *stretch);
  if (focused) {
    painter.setPen(QPen(clear(color, 0.35F), 3));
    painter.drawRoundedRect(QRectF(grip - QPointF(half + 2, half + 2), QSizeF(2 * half + 4, 2 * half + 4)), 4, 4);
  }
  painter.setPen(QPen(color, 1.8));
  painter.setBrush(scene.dragged_handle == handle.id ? color : picture.theme.color(Role::card));
  painter.drawRoundedRect(QRectF(grip - QPointF(half, half), QSizeF(2 * half, 2 * half)), 2, 2);
  painter.setBrush(Qt::NoBrush);
}

} // namespace

void paint_symbol(QCPPainter& painter, const QCPScatterStyle& symbol, const QPointF& at) {
  symbol.applyTo(&painter, painter.pen());
  symbol.drawShape(&painter, at);
  painter.setBrush(Qt::NoBrush);
}

void paint_pill(const Picture& picture, QCPPainter& painter, const QString& text, const QPointF& middle,
                const QColor& ground, const QColor& ink, const QColor& frame) {
  const QFontMetricsF metrics(picture.fonts.small);
  QRectF pill(0, 0, std::max(metrics.horizontalAdvance(text) + 10, metrics.height()), metrics.height() + 2);
  pill.moveCenter(middle);
  pill.moveLeft(std::clamp(pill.left(), picture.whole.left() + 2,
                           std::max(picture.whole.left() + 2, picture.whole.right() - pill.width() - 2)));
  painter.setPen(QPen(frame, 1));
  painter.setBrush(ground);
  painter.drawRoundedRect(pill, 4, 4);
  painter.setBrush(Qt::NoBrush);
  painter.setFont(picture.fonts.small);
  painter.setPen(ink);
  painter.drawText(pill, Qt::AlignCenter, text);
}

std::optional<QLineF> handle_stretch(const Picture& picture, const PlotHandle& handle) {
  const auto number = static_cast<std::size_t>(handle.panel);
  if (handle.panel < 0 || number >= picture.panels.size() || !picture.panels[number]->visible)
    return std::nullopt;
  const Panel& panel = *picture.panels[number];
  const auto [from, to] = picture.view.range();
  if (handle.to <= from || handle.from >= to || (panel.log && handle.y <= 0))
    return std::nullopt;
  const double y = panel.y_pixel(handle.y);
  if (!(y >= panel.area().top() - 1) || y > panel.area().bottom() + 1)
    return std::nullopt;
  return QLineF(panel.x_pixel(std::max(handle.from, from)), y, panel.x_pixel(std::min(handle.to, to)), y);
}

QPointF grip_of(const PlotHandle& handle, const QLineF& stretch) {
  constexpr double inside = 6; // px: so that half of it is not cut off at the border
  return handle.grip_at_end ? stretch.p2() - QPointF(std::min(inside, stretch.length() / 2), 0) : stretch.center();
}

void paint_handles(const Picture& picture, QCPPainter& painter) {
  const Scene& scene = picture.scene;
  for (const PlotHandle& handle : scene.handles)
    paint_handle(picture, painter, handle);
  for (const PlotHandle& handle : scene.handles) {
    if ((scene.dragged_handle != handle.id && scene.focused_handle != handle.id) || handle.label.isEmpty())
      continue;
    if (const auto stretch = handle_stretch(picture, handle)) {
      const QColor color = picture.theme.color(handle.good ? Role::accent : Role::error);
      const double away = QFontMetricsF(picture.fonts.small).height() + 8;
      const bool above = stretch->y1() - 1.6 * away > picture.whole.top();
      const QString label = handle.text ? handle.label.arg(handle.text(handle.y)) : handle.label;
      paint_pill(picture, painter, label, grip_of(handle, *stretch) + QPointF(0, above ? -away : away),
                 picture.theme.color(Role::card), handle.good ? picture.theme.color(Role::text) : color, color);
    }
  }
}

void paint_top(const Picture& picture, QCPPainter& painter) {
  const Scene& scene = picture.scene;
  if (picture.stack().isNull())
    return;
  paint_cursors(picture, painter);
  if (scene.in_file)
    return;
  if (scene.zooming)
    tint(picture, painter, *scene.zooming);
  paint_handles(picture, painter);
  if (scene.crosshair && picture.in_view(*scene.crosshair))
    paint_crosshair(picture, painter, *scene.crosshair);
  if (scene.focus) {
    painter.setPen(QPen(picture.theme.color(Role::accent), 2));
    painter.drawRoundedRect(picture.whole.adjusted(1.5, 1.5, -2.5, -2.5), 6, 6);
  }
}

} // namespace batchscope::ui
