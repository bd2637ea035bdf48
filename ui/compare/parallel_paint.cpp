#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <vector>

#include "ui/compare/parallel_plot.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"

// Painting of the parallel coordinates. All runs are a picture that is painted when the axes change; the marked ones
// are painted over it each time, so that brushing stays fast with many runs.
namespace batchscope::ui {

namespace {

constexpr std::size_t few = 500; ///< more lines are painted without smooth edges, each pixel position once

/// Which lines between two axes were painted already, by their ends' pixels.
class PaintedLines {
public:
  explicit PaintedLines(int height) : height_(height), bits_(static_cast<std::size_t>(height) * height, false) {}

  /// Whether it is the first one there.
  bool add(int from, int to) {
    if (from < 0 || to < 0 || from >= height_ || to >= height_)
      return true;
    auto bit = bits_[static_cast<std::size_t>(from) * height_ + to];
    const bool first = !bit;
    bit = true;
    return first;
  }
  void clear() { std::fill(bits_.begin(), bits_.end(), false); }

private:
  int height_;
  std::vector<bool> bits_;
};

QColor mixed(const QColor& one, const QColor& other, float part) {
  const auto mix = [part](float a, float b) { return a + (b - a) * part; };
  return QColor::fromRgbF(mix(one.redF(), other.redF()), mix(one.greenF(), other.greenF()),
                          mix(one.blueF(), other.blueF()));
}

} // namespace

void ParallelPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (axes_.axes().empty()) {
    painter.setPen(theme_.color(Role::dimmed));
    painter.drawText(rect(), Qt::AlignCenter,
                     view_.visible().size() == 1 ? tr("Nothing to compare with this run.")
                                                 : tr("These runs have the same settings and results."));
    return;
  }
  if (background_.isNull())
    paint_background();
  painter.drawPixmap(0, 0, background_);
  paint_lines(painter);
  paint_axes(painter);
}

void ParallelPlot::paint_background() {
  const qreal ratio = devicePixelRatioF();
  background_ = QPixmap(size() * ratio);
  background_.setDevicePixelRatio(ratio);
  background_.fill(Qt::transparent);
  QPainter painter(&background_);
  const std::size_t runs = view_.visible().size();
  const QColor color = mixed(theme_.color(Role::card), theme_.color(Role::dimmed), runs > few ? 0.35f : 0.5f);
  painter.setPen(QPen(color, runs > few ? 0 : 1));
  if (runs <= few) {
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < runs; ++i)
      draw_run(painter, i);
    return;
  }
  paint_many(painter, false);
}

/// Without smooth edges, and each line once.
void ParallelPlot::paint_many(QPainter& painter, bool emphasized_only) const {
  const auto& visible = view_.visible();
  PaintedLines painted(height());
  QList<QLine> lines;
  for (std::size_t axis = 0; axis + 1 < pixels_.size(); ++axis) {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const QPoint from = pixels_[axis][i];
      const QPoint to = pixels_[axis + 1][i];
      if ((!emphasized_only || view_.is_emphasized(visible[i])) && painted.add(from.y(), to.y()))
        lines.append(QLine(from, to));
    }
    painter.drawLines(lines);
    lines.clear();
    painted.clear();
  }
}

void ParallelPlot::draw_run(QPainter& painter, std::size_t index) const {
  QPolygon line;
  for (const auto& pixels : pixels_)
    line.append(pixels[index]);
  painter.drawPolyline(line);
}

/// The emphasized runs, and the one under the pointer.
void ParallelPlot::paint_lines(QPainter& painter) {
  const auto& visible = view_.visible();
  if (view_.emphasized().size() > few) {
    painter.setPen(QPen(theme_.color(Role::accent), 0));
    paint_many(painter, true);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  const double width = Theme::lines(0.11);
  const auto draw = [&](std::size_t index, double times) {
    const auto look = view_.look(visible[index]);
    QPen pen(look ? theme_.series(*look) : theme_.color(Role::accent), width * times);
    if (look)
      pen.setDashPattern(theme_.dashes(*look));
    if (!look || theme_.dashes(*look).isEmpty())
      pen.setStyle(Qt::SolidLine);
    painter.setPen(pen);
    draw_run(painter, index);
  };
  if (view_.emphasized().size() <= few)
    for (std::size_t i = 0; i < visible.size(); ++i)
      if (view_.is_emphasized(visible[i]))
        draw(i, 1);
  if (hovered_ && *hovered_ < visible.size())
    draw(*hovered_, 2);
}

void ParallelPlot::paint_axes(QPainter& painter) {
  const QRectF plot = plot_rect();
  if (axes_.has_missing()) {
    const double y = point(0, ParallelAxes::missing_place).y();
    painter.setPen(QPen(theme_.color(Role::border), 1, Qt::DashLine));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    painter.setPen(theme_.color(Role::dimmed));
    painter.drawText(QRectF(0, y - Theme::lines(0.7), plot.left() - 10, Theme::lines(1.4)),
                     Qt::AlignRight | Qt::AlignVCenter, tr("none"));
  }
  for (int axis = 0; axis < std::ssize(axes_.axes()); ++axis)
    paint_axis(painter, axis);
}

void ParallelPlot::paint_axis(QPainter& painter, int axis) {
  const ParallelAxes::Axis& shown = axes_.axes()[static_cast<std::size_t>(axis)];
  const QRectF plot = plot_rect();
  const bool dragged = drag_ == Drag::title && dragged_axis_ == axis;
  const double x = dragged ? drag_x_ : axis_x(axis);
  const bool focused = hasFocus() && axis == chosen_axis_;
  painter.setPen(QPen(theme_.color(focused ? Role::accent : Role::dimmed), focused ? 2 : 1.5));
  painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  if (shown.brush) {
    QColor color = theme_.color(Role::accent);
    color.setAlphaF(0.35f);
    const double half = Theme::lines(0.35);
    if (shown.brush->second > 0)
      painter.fillRect(QRectF(QPointF(x - half, point(axis, shown.brush->second).y()),
                              QPointF(x + half, point(axis, std::max(0.0, shown.brush->first)).y())),
                       color);
    if (shown.brush->first < 0) {
      const double y = point(axis, ParallelAxes::missing_place).y();
      painter.fillRect(QRectF(x - half, y - half, 2 * half, 2 * half), color);
    }
  }
  const auto count = std::ssize(axes_.axes());
  const double room = count < 2 ? plot.width() : plot.width() / double(count - 1) - Theme::lines(0.6);
  const auto text = [&](double top, const QString& what, Role role, bool bold) {
    QFont font = this->font();
    font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
    painter.setFont(font);
    painter.setPen(theme_.color(role));
    const QFontMetricsF metrics(font);
    const QString elided = fitted_text(what, metrics, room, Qt::ElideRight);
    // At the edges of the widget a long title moves inside.
    const double taken = metrics.horizontalAdvance(elided) + 2;
    const double left = std::clamp(x - taken / 2, 2.0, std::max<double>(2, this->width() - taken - 2));
    painter.drawText(QRectF(left, top, taken, metrics.height()), Qt::AlignLeft, elided);
  };
  text(Theme::lines(0.25), shown.axis.name(), dragged || focused ? Role::accent : Role::text, true);
  text(plot.top() - Theme::lines(1.25), shown.axis.high_label(), Role::dimmed, false);
  text(plot.bottom() + Theme::lines(0.2), shown.axis.low_label(), Role::dimmed, false);
}

} // namespace batchscope::ui
