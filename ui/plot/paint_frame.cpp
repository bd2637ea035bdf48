// What surrounds the curves and lies under them.
#include <QFontMetricsF>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/paint.h"

namespace batchscope::ui {

namespace {

constexpr double sample_width = 18; ///< px: of a line in a legend
constexpr double sample_gap = 6;    ///< between line and name
constexpr double entry_gap = 16;    ///< between entries

struct Entry {
  const Curve* curve;
  QString text;
  double width;
};

/// How wide a text may be so that all of them fit: short ones stay as they are.
double widest_that_fits(std::vector<double> widths, double room) {
  std::sort(widths.begin(), widths.end());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const double share = room / static_cast<double>(widths.size() - i);
    if (widths[i] > share)
      return share;
    room -= widths[i];
  }
  return widths.empty() ? 0 : widths.back();
}

/// The legend of a panel, shortened where it does not fit.
std::vector<Entry> legend(const Picture& picture, int number, double room) {
  const QFontMetricsF metrics(picture.fonts.small);
  std::vector<Entry> entries;
  std::vector<double> widths;
  for (const auto& curve : picture.curves) {
    if (curve->panel != number || curve->style.name.isEmpty())
      continue;
    widths.push_back(metrics.horizontalAdvance(curve->style.name) + 1);
    entries.push_back({curve.get(), curve->style.name, widths.back()});
  }
  const double widest =
      widest_that_fits(widths, room - static_cast<double>(entries.size()) * (sample_width + sample_gap + entry_gap));
  for (Entry& entry : entries) {
    if (entry.width <= widest)
      continue;
    entry.text = widest > 0 ? metrics.elidedText(entry.text, Qt::ElideRight, widest) : QString();
    entry.width = metrics.horizontalAdvance(entry.text);
  }
  return entries;
}

void paint_sample(QCPPainter& painter, const Curve& curve, const Theme& theme, double left, double y) {
  const double middle = std::round(y);
  if (curve.style.line) {
    QPen pen = curve.graph->pen();
    pen.setWidthF(curve.style.highlighted ? 2.5 : 2);
    if (!curve.dashes.isEmpty())
      pen.setDashPattern({2.4, 1.4});
    painter.setPen(pen);
    painter.drawLine(QPointF(left, middle), QPointF(left + sample_width, middle));
  }
  if (curve.style.points) {
    painter.setPen(QPen(theme.color(Role::card), 1));
    painter.setBrush(curve.color);
    painter.drawEllipse(QPointF(left + sample_width / 2, middle), 3.5, 3.5);
    painter.setBrush(Qt::NoBrush);
  }
}

void paint_strip(const Picture& picture, QCPPainter& painter, const Panel& panel, int number) {
  const QRectF area = panel.area();
  const double height = strip_height(picture.fonts);
  const QRectF strip(area.left(), area.top() - height, area.width(), height - 3);
  const QFontMetricsF bold(picture.fonts.bold);
  const double title_room = area.width() * 0.5;
  const QString title = bold.elidedText(panel.spec.title, Qt::ElideRight, title_room);
  const auto clear = [&](double left, double width) { // lines of marks go on behind words
    painter.fillRect(QRectF(left - 3, strip.top(), width + 6, strip.height() - 1), picture.theme.color(Role::card));
  };
  painter.setFont(picture.fonts.bold);
  painter.setPen(picture.theme.color(Role::text));
  clear(strip.left(), bold.horizontalAdvance(title));
  painter.drawText(strip, Qt::AlignLeft | Qt::AlignVCenter, title);
  const auto entries = legend(picture, number, area.width() - bold.horizontalAdvance(title) - 2 * entry_gap);
  painter.setFont(picture.fonts.small);
  double right = strip.right();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const double left = right - entry->width;
    clear(left - sample_gap - sample_width, right - left + sample_gap + sample_width);
    painter.setPen(picture.theme.color(Role::dimmed));
    painter.drawText(QRectF(left, strip.top(), entry->width + 2, strip.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     entry->text);
    paint_sample(painter, *entry->curve, picture.theme, left - sample_gap - sample_width, strip.center().y());
    right = left - sample_gap - sample_width - entry_gap;
  }
}

void paint_band(const Picture& picture, QCPPainter& painter, const PlotBand& band, const Panel& panel) {
  QPolygonF outline;
  const std::size_t count = std::min({band.x.size(), band.low.size(), band.high.size()});
  const auto add = [&](std::size_t i, double y) {
    if (std::isfinite(y) && (!panel.log || y > 0) && (!picture.view.log() || band.x[i] > 0))
      outline.push_back({panel.x_pixel(band.x[i]), panel.y_pixel(y)});
  };
  for (std::size_t i = 0; i < count; ++i)
    add(i, band.low[i]);
  for (std::size_t i = count; i-- > 0;)
    add(i, band.high[i]);
  QColor color = picture.theme.series(band.series);
  color.setAlphaF(picture.theme.dark() ? 0.28F : 0.20F);
  painter.save();
  painter.setClipRect(panel.area());
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(outline);
  painter.restore();
}

} // namespace

PlotFonts::PlotFonts(const QFont& font) : small(font), bold(font) {
  constexpr double smaller = 0.85;
  if (font.pointSizeF() > 0) {
    small.setPointSizeF(font.pointSizeF() * smaller);
  } else {
    small.setPixelSize(std::max(8, static_cast<int>(std::lround(font.pixelSize() * smaller))));
  }
  bold = small;
  bold.setWeight(QFont::DemiBold);
}

QRectF Picture::stack() const {
  QRectF stack;
  each_panel([&](const Panel& panel, int) { stack = stack.isNull() ? panel.area() : stack.united(panel.area()); });
  return stack;
}

double Picture::x_pixel(double x) const {
  for (const auto& panel : panels)
    if (panel->visible)
      return panel->x_pixel(x);
  return 0;
}

double strip_height(const PlotFonts& fonts) {
  return std::ceil(QFontMetricsF(fonts.small).height() * 1.6);
}

void paint_back(const Picture& picture, QCPPainter& painter) {
  painter.setAntialiasing(false);
  // Beyond the edges: the painter may stand half a pixel off them.
  painter.fillRect(picture.whole.adjusted(-1, -1, 1, 1), picture.theme.color(Role::card));
  if (picture.scene.future && *picture.scene.future < picture.view.range().second) {
    const double from = std::max(*picture.scene.future, picture.view.range().first);
    picture.each_panel([&](const Panel& panel, int) {
      QRectF area = panel.area();
      area.setLeft(std::round(panel.x_pixel(from)));
      painter.fillRect(area, picture.theme.color(Role::future));
    });
  }
  painter.setAntialiasing(true);
  picture.each_panel([&](const Panel& panel, int number) {
    for (const PlotBand& band : picture.scene.bands)
      if (band.panel == number)
        paint_band(picture, painter, band, panel);
  });
}

void paint_strips(const Picture& picture, QCPPainter& painter) {
  picture.each_panel([&](const Panel& panel, int number) { paint_strip(picture, painter, panel, number); });
  if (picture.scene.x_label.isEmpty())
    return;
  const double height = QFontMetricsF(picture.fonts.small).height();
  const QRectF stack = picture.stack();
  painter.setFont(picture.fonts.small);
  painter.setPen(picture.theme.color(Role::dimmed));
  painter.drawText(QRectF(stack.left(), picture.whole.bottom() - height - 6, stack.width(), height),
                   Qt::AlignRight | Qt::AlignVCenter, picture.scene.x_label);
}

} // namespace batchscope::ui
