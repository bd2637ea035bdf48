// Painting around and below the curves.
#include <QFontMetricsF>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/paint.h"
#include "ui/theme/sample_dashes.h"
#include "ui/widgets/elide.h"

namespace batchscope::ui {

namespace {

constexpr double sample_width = 22; ///< px: of a line sample in a legend
constexpr double sample_gap = 6;    ///< between line and name
constexpr double entry_gap = 16;    ///< between entries

/// The maximum width of a text so that all fit; short ones keep their width.
double widest_that_fits(std::vector<double> widths, double room) {
  std::sort(widths.begin(), widths.end());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const double fraction = room / static_cast<double>(widths.size() - i);
    if (widths[i] > fraction)
      return fraction;
    room -= widths[i];
  }
  return widths.empty() ? 0 : widths.back();
}

void paint_sample(QCPPainter& painter, const Curve& curve, const Theme& theme, double left, double y) {
  const double middle = std::round(y);
  if (curve.style.line) {
    QPen pen = curve.graph->pen();
    pen.setWidthF(curve.style.highlighted ? 2.5 : 2);
    if (!curve.dashes.isEmpty())
      pen.setDashPattern(sample_dashes(curve.dashes, pen.widthF(), sample_width));
    painter.setPen(pen);
    painter.drawLine(QPointF(left, middle), QPointF(left + sample_width, middle));
  }
  if (curve.style.points)
    paint_symbol(painter, {QCPScatterStyle::ssCircle, QPen(theme.color(Role::card), 1), curve.color, 7},
                 {left + sample_width / 2, middle});
}

/// Whether names differ only at their ends: batch 128, batch 256.
bool begin_alike(const std::vector<LegendEntry>& entries) {
  constexpr qsizetype letters = 3;
  return entries.size() > 1 && std::all_of(entries.begin(), entries.end(), [&](const LegendEntry& entry) {
           return entry.text.left(letters) == entries.front().text.left(letters);
         });
}

QRectF strip_of(const Picture& picture, const Panel& panel) {
  const QRectF area = panel.area();
  const double height = strip_height(picture.fonts);
  return {area.left(), area.top() - height, area.width(), height - 3};
}

QString title_of(const Picture& picture, const Panel& panel) {
  return QFontMetricsF(picture.fonts.bold).elidedText(panel.spec.heading(), Qt::ElideRight, panel.area().width() * 0.5);
}

void paint_entry(const Picture& picture, QCPPainter& painter, const LegendEntry& entry) {
  QColor ink = picture.theme.color(Role::dimmed);
  QFont font = picture.fonts.small;
  if (entry.curve->hidden) {
    constexpr float faint = 0.45F;
    ink.setAlphaF(faint);
    painter.setOpacity(faint);
    font.setStrikeOut(true);
  }
  paint_sample(painter, *entry.curve, picture.theme, entry.place.left(), entry.place.center().y());
  painter.setOpacity(1);
  painter.setFont(font);
  painter.setPen(ink);
  painter.drawText(entry.place.adjusted(sample_width + sample_gap, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   entry.text);
}

void paint_strip(const Picture& picture, QCPPainter& painter, const Panel& panel, int number) {
  const QRectF strip = strip_of(picture, panel);
  const QString title = title_of(picture, panel);
  const auto clear = [&](double left, double width) { // lines of marks continue behind texts
    painter.fillRect(QRectF(left - 3, strip.top(), width + 6, strip.height() - 1), picture.theme.color(Role::card));
  };
  painter.setFont(picture.fonts.bold);
  painter.setPen(picture.theme.color(Role::text));
  clear(strip.left(), QFontMetricsF(picture.fonts.bold).horizontalAdvance(title));
  painter.drawText(strip, Qt::AlignLeft | Qt::AlignVCenter, title);
  for (const LegendEntry& entry : legend(picture, panel, number)) {
    clear(entry.place.left(), entry.place.width());
    paint_entry(picture, painter, entry);
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
  if (painter.modes().testFlag(QCPPainter::pmVectorized)) // SVG does not clip
    outline = outline.intersected(QPolygonF(panel.area()));
  QColor color = picture.theme.series(band.series);
  color.setAlphaF(picture.theme.dark() ? 0.28F : 0.20F);
  painter.save();
  painter.setClipRect(panel.area());
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(outline);
  painter.restore();
}

/// Those curves whose names are in a shared legend: the first of each name.
std::vector<const Curve*> named_curves(const Picture& picture) {
  std::vector<const Curve*> named;
  for (const auto& curve : picture.curves) {
    const bool is_new = std::none_of(named.begin(), named.end(),
                                     [&](const Curve* other) { return other->style.name == curve->style.name; });
    if (picture.scene.shared_legend && is_new && !curve->style.name.isEmpty() &&
        picture.panels[static_cast<std::size_t>(curve->panel)]->visible && !(curve->hidden && picture.scene.in_file))
      named.push_back(curve.get());
  }
  return named;
}

/// Entries of a shared legend from the upper left on, in rows.
std::vector<LegendEntry> in_rows(const Picture& picture, const QPointF& corner, double width) {
  const QFontMetricsF metrics(picture.fonts.small);
  const double height = strip_height(picture.fonts) - 3;
  std::vector<LegendEntry> entries;
  QPointF at = corner;
  for (const Curve* curve : named_curves(picture)) {
    const QString text = metrics.elidedText(curve->style.name, Qt::ElideMiddle, width - sample_width - sample_gap);
    const double wide = sample_width + sample_gap + metrics.horizontalAdvance(text) + 1;
    if (at.x() > corner.x() && at.x() + wide > corner.x() + width)
      at = {corner.x(), at.y() + height};
    entries.push_back({curve, text, QRectF(at, QSizeF(wide, height))});
    at.rx() += wide + entry_gap;
  }
  return entries;
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

double Picture::x_value(double pixel) const {
  for (const auto& panel : panels)
    if (panel->visible)
      return panel->x_value(pixel);
  return view.range().first;
}

std::vector<LegendEntry> legend(const Picture& picture, const Panel& panel, int number) {
  constexpr qsizetype shortest_text = 3;
  const QFontMetricsF metrics(picture.fonts.small);
  const QRectF strip = strip_of(picture, panel);
  std::vector<LegendEntry> entries;
  std::vector<double> widths;
  for (const auto& curve : picture.curves) {
    if (picture.scene.shared_legend || curve->panel != number || curve->style.name.isEmpty() ||
        (curve->hidden && picture.scene.in_file))
      continue;
    widths.push_back(metrics.horizontalAdvance(curve->style.name) + 1);
    entries.push_back({curve.get(), curve->style.name, {}});
  }
  const double title = QFontMetricsF(picture.fonts.bold).horizontalAdvance(title_of(picture, panel));
  const double room = strip.width() - title - 2 * entry_gap;
  const double widest =
      widest_that_fits(widths, room - static_cast<double>(entries.size()) * (sample_width + sample_gap + entry_gap));
  const Qt::TextElideMode mode = begin_alike(entries) ? Qt::ElideLeft : Qt::ElideRight;
  double right = strip.right();
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (widths[i] > widest) {
      entries[i].text = fitted_text(entries[i].text, metrics, widest, mode);
      if (entries[i].text.size() < shortest_text) // an ellipsis says no more than the sample alone
        entries[i].text.clear();
      widths[i] = metrics.horizontalAdvance(entries[i].text);
    }
    const double width = sample_width + sample_gap + widths[i];
    entries[i].place = QRectF(right - width, strip.top(), width, strip.height());
    right -= width + entry_gap;
  }
  return entries;
}

double shared_legend_height(const Picture& picture, double width) {
  const std::vector<LegendEntry> entries = in_rows(picture, {}, width);
  return entries.empty() ? 0 : std::ceil(entries.back().place.bottom() + 3);
}

std::vector<LegendEntry> shared_legend(const Picture& picture) {
  const QRectF stack = picture.stack();
  const double above = shared_legend_height(picture, stack.width());
  return in_rows(picture, {stack.left(), stack.top() - strip_height(picture.fonts) - above}, stack.width());
}

double caption_height(const Picture& picture) {
  constexpr double with_margins = 1.9;
  return picture.scene.caption.isEmpty() ? 0 : std::ceil(QFontMetricsF(picture.fonts.bold).height() * with_margins);
}

void paint_caption(const Picture& picture, QPainter& painter, double width) {
  constexpr double beside = 10; // px
  const QRectF strip(0, 0, width, caption_height(picture));
  painter.fillRect(strip, picture.theme.color(Role::card));
  painter.setFont(picture.fonts.bold);
  painter.setPen(picture.theme.color(Role::text));
  const QRectF room = strip.adjusted(beside, 0, -beside, 0);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(picture.fonts.bold).elidedText(picture.scene.caption, Qt::ElideRight, room.width()));
}

double strip_height(const PlotFonts& fonts) {
  return std::ceil(QFontMetricsF(fonts.small).height() * 1.6);
}

void paint_back(const Picture& picture, QCPPainter& painter) {
  painter.setAntialiasing(false);
  // Slightly larger: the painter may be half a pixel off the edges.
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
  for (const LegendEntry& entry : shared_legend(picture))
    paint_entry(picture, painter, entry);
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
