#include <QPainter>

#include <algorithm>

#include "ui/compare/scatter_plot.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t most_labels = 40;
constexpr std::size_t most_smooth = 1000; ///< more spots are squares without smooth edges

} // namespace

void ScatterPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (!x_ || !y_ || spots_.empty()) {
    painter.setPen(theme_.color(Role::dimmed));
    painter.drawText(rect(), Qt::AlignCenter, tr("No run has both values."));
    return;
  }
  paint_grid(painter);
  paint_front(painter);
  paint_spots(painter);
  if (view_.emphasized().size() <= most_labels)
    paint_labels(painter);
  if (pressed_) {
    QColor color = theme_.color(Role::accent);
    painter.setPen(color);
    color.setAlphaF(0.15f);
    painter.setBrush(color);
    painter.drawRect(QRectF(*pressed_, pointer_).normalized());
  }
}

void ScatterPlot::paint_grid(QPainter& painter) const {
  const QRectF plot = plot_rect();
  QFont caption = font();
  caption.setPointSizeF(caption.pointSizeF() * 0.9);
  painter.setFont(caption);
  const QFontMetricsF metrics(caption);
  const double height = metrics.height();
  const Ticks across = x_->ticks(std::max(2, int(plot.width() / Theme::lines(5))));
  for (qsizetype i = 0; i < across.places.size(); ++i) {
    const double x = on_screen({across.places[i], 0}).x();
    if (x < plot.left() - 1 || x > plot.right() + 1)
      continue;
    painter.setPen(theme_.color(Role::grid));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(theme_.color(Role::dimmed));
    const double half = Theme::lines(2.4);
    painter.drawText(QRectF(x - half, plot.bottom() + 3, 2 * half, height), Qt::AlignHCenter,
                     fitted_text(across.labels[i], metrics, 2 * half, Qt::ElideRight));
  }
  const Ticks up = y_->ticks(std::max(4, int(plot.height() / Theme::lines(2.2))));
  for (qsizetype i = 0; i < up.places.size(); ++i) {
    const double y = on_screen({0, up.places[i]}).y();
    if (y < plot.top() - 1 || y > plot.bottom() + 1)
      continue;
    painter.setPen(theme_.color(Role::grid));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    painter.setPen(theme_.color(Role::dimmed));
    const double width = plot.left() - 6;
    painter.drawText(QRectF(0, y - height / 2, width, height), Qt::AlignRight | Qt::AlignVCenter,
                     fitted_text(up.labels[i], metrics, width, Qt::ElideRight));
  }
  painter.setPen(theme_.color(Role::dimmed));
  painter.drawText(QRectF(plot.left(), plot.bottom() + 4 + height, plot.width(), height), Qt::AlignRight,
                   x_->title() + (x_->log() ? tr(", logarithmic") : QString()));
}

void ScatterPlot::paint_front(QPainter& painter) const {
  QPolygonF line;
  for (const std::size_t spot : front_spots_)
    line.append(on_screen(spots_[spot].at));
  painter.setPen(QPen(theme_.color(Role::good), Theme::lines(0.09), Qt::DashLine));
  painter.drawPolyline(line);
}

void ScatterPlot::paint_spots(QPainter& painter) const {
  const bool many = spots_.size() > most_smooth;
  painter.setRenderHint(QPainter::Antialiasing, !many);
  const double radius = Theme::lines(many ? 0.12 : 0.25);
  const QRectF plot = plot_rect();
  const auto draw = [&](const Spot& spot, const QColor& color) {
    const QPointF at = on_screen(spot.at);
    if (spot.across > 0 || spot.up > 0) {
      painter.setPen(QPen(color, 1));
      const QPointF off(spot.across * plot.width(), 0);
      const QPointF high(0, spot.up * plot.height());
      painter.setClipRect(plot); // of few runs, intervals are long
      painter.drawLine(at - off, at + off);
      painter.drawLine(at - high, at + high);
      painter.setClipping(false);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (many)
      painter.fillRect(QRectF(at - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)).toRect(), color);
    else
      painter.drawEllipse(at, radius, radius);
  };
  const auto emphasized = [&](const Spot& spot) {
    return std::any_of(spot.runs.begin(), spot.runs.end(), [&](std::size_t run) { return view_.is_emphasized(run); });
  };
  QColor faint = theme_.color(Role::dimmed);
  faint.setAlphaF(0.45f);
  for (const Spot& spot : spots_)
    if (!emphasized(spot))
      draw(spot, faint);
  for (const Spot& spot : spots_)
    if (emphasized(spot)) {
      const auto run =
          std::find_if(spot.runs.begin(), spot.runs.end(), [&](std::size_t each) { return view_.is_emphasized(each); });
      const auto look = view_.look(*run);
      draw(spot, look ? theme_.series(*look) : theme_.color(Role::accent));
    }
  painter.setRenderHint(QPainter::Antialiasing);
}

/// Beside the emphasized spots, where there is room.
void ScatterPlot::paint_labels(QPainter& painter) const {
  QFont bold = font();
  bold.setPointSizeF(bold.pointSizeF() * 0.9);
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(theme_.color(Role::text));
  const QFontMetricsF metrics(bold);
  const QRectF plot = plot_rect();
  std::vector<QRectF> taken;
  for (const Spot& spot : spots_) {
    const QPointF at = on_screen(spot.at);
    taken.push_back(QRectF(at - QPointF(3, 3), QSizeF(6, 6)));
  }
  for (const Spot& spot : spots_) {
    if (spot.label.isEmpty() || !view_.is_emphasized(spot.runs.front()))
      continue;
    const QPointF at = on_screen(spot.at);
    const QString text = fitted_text(spot.label, metrics, Theme::lines(7), Qt::ElideRight);
    const QSizeF size(metrics.horizontalAdvance(text) + 1, metrics.height());
    const double beside = Theme::lines(0.4);
    for (const QPointF corner :
         {QPointF(beside, -size.height() / 2), QPointF(-size.width() - beside, -size.height() / 2),
          QPointF(-size.width() / 2, -size.height() - beside), QPointF(-size.width() / 2, beside)}) {
      const QRectF box(at + corner, size);
      if (box.left() < plot.left() || box.right() > width() || box.top() < 0 ||
          std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); }))
        continue;
      painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
      taken.push_back(box);
      break;
    }
  }
}

} // namespace batchscope::ui
