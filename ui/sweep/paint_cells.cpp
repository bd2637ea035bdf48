// How the picture of a sweep is drawn.
#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/sweep/cell_text.h"
#include "ui/sweep/cells_picture.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"

namespace batchscope::ui {

namespace {

constexpr int ring = 4; ///< px around the cells, as in cells_picture.cpp
constexpr double worst_tint = 0.14;

QColor between(const QColor& one, const QColor& other, double fraction) {
  const auto part = [fraction](float a, float b) { return a + (b - a) * static_cast<float>(fraction); };
  return QColor::fromRgbF(part(one.redF(), other.redF()), part(one.greenF(), other.greenF()),
                          part(one.blueF(), other.blueF()));
}

/// Relative luminance, as WCAG defines it.
double luminance(const QColor& color) {
  const auto linear = [](double part) {
    return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& one, const QColor& other) {
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

/// The colour of texts on a ground.
QColor readable_on(const Theme& theme, const QColor& ground) {
  const QColor text = theme.color(Role::text), card = theme.color(Role::card);
  return contrast(text, ground) >= contrast(card, ground) ? text : card;
}

QFont scaled(QFont font, double factor, bool strong) {
  font.setPointSizeF(QFontInfo(font).pointSizeF() * factor);
  if (strong)
    font.setWeight(QFont::DemiBold);
  return font;
}

void draw_line(QPainter& painter, const QRectF& place, const QFont& font, const QColor& color, const QString& text) {
  painter.setFont(font);
  painter.setPen(color);
  painter.drawText(place, Qt::AlignCenter, fitted_text(text, QFontMetricsF(font), place.width(), Qt::ElideRight));
}

/// `2 OOM, survived`, or `2 OOM` where that is too long.
void draw_alarm(QPainter& painter, const QRectF& place, const QFont& font, const QColor& color, const QString& text) {
  const bool fits = QFontMetricsF(font).horizontalAdvance(text) <= place.width();
  draw_line(painter, place, font, color, fits ? text : text.section(u',', 0, 0));
}

} // namespace

QColor cell_color(const Theme& theme, double goodness) {
  return between(theme.color(Role::card), theme.series(0), worst_tint + (1 - worst_tint) * goodness);
}

void CellsPicture::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(ring, ring);
  for (const CellLayout::Label& label : layout_.labels) {
    painter.setFont(label.strong ? scaled(font(), 1, true) : scaled(font(), 0.9, false));
    painter.setPen(theme_.color(label.strong ? Role::text : Role::dimmed));
    painter.drawText(label.place, static_cast<int>(label.alignment) | Qt::TextSingleLine, label.text);
  }
  for (std::size_t i = 0; i < layout_.cells.size(); ++i)
    draw_cell(painter, i);
}

CellsPicture::Mark CellsPicture::mark_of(const Cell& cell) const {
  Mark mark = Mark::none;
  for (const std::size_t run : cell.runs) {
    const auto& id = view_.runs[run].run;
    if (id && best_.count(*id) > 0)
      return Mark::best;
    if (id && ties_.count(*id) > 0)
      mark = Mark::tie;
  }
  return mark;
}

QColor CellsPicture::fill_of(const Cell& cell) const {
  if (cell.summary.n > 0)
    return cell_color(theme_, goodness(grid_, metric_, cell.summary.mean));
  return theme_.color(cell_text(view_, cell, metric_).failed ? Role::on_error : Role::card);
}

void CellsPicture::draw_cell(QPainter& painter, std::size_t index) const {
  const Cell& cell = grid_.cells[index];
  const QRectF place = layout_.cells[index];
  draw_ground(painter, cell, place);
  draw_frames(painter, index, place);
  if (layout_.brief)
    draw_texts(painter, cell, place, fill_of(cell));
}

void CellsPicture::draw_ground(QPainter& painter, const Cell& cell, const QRectF& place) const {
  const bool waits = untouched(view_, cell);
  const double radius = std::min(0.35 * layout_.line, place.height() / 5);
  painter.setBrush(waits ? Qt::NoBrush : QBrush(fill_of(cell)));
  if (waits) {
    const ShownRun& first = view_.runs[cell.runs.front()];
    QPen pen(theme_.color(first.in_doubt() ? Role::error : Role::border), 1.2, Qt::DashLine);
    painter.setPen(pen);
  } else if (cell.summary.n == 0) {
    painter.setPen(QPen(theme_.color(cell_text(view_, cell, metric_).failed ? Role::error : Role::border), 1));
  } else {
    painter.setPen(Qt::NoPen);
  }
  painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

/// Frames the best, the training and the chosen cells; not by colour alone, but by width and place as well.
void CellsPicture::draw_frames(QPainter& painter, std::size_t index, const QRectF& place) const {
  const Cell& cell = grid_.cells[index];
  const double radius = std::min(0.35 * layout_.line, place.height() / 5);
  const bool small = place.width() < 2 * layout_.line;
  painter.setBrush(Qt::NoBrush);
  if (const Mark mark = mark_of(cell); mark != Mark::none) {
    const double width = mark == Mark::best ? (small ? 2 : 3) : 1.5;
    painter.setPen(QPen(theme_.color(Role::good), width));
    const double in = mark == Mark::best ? 0 : 0.75;
    painter.drawRoundedRect(place.adjusted(in, in, -in, -in), radius, radius);
  }
  if (trains(view_, cell)) {
    painter.setPen(QPen(theme_.color(Role::accent), 1.5, Qt::DotLine));
    painter.drawRoundedRect(place.adjusted(2, 2, -2, -2), radius, radius);
  }
  if (chosen_.count(index) > 0) {
    painter.setPen(QPen(theme_.color(Role::accent), 2));
    const double out = small ? 0.5 : 2.5;
    painter.drawRoundedRect(place.adjusted(-out, -out, out, out), radius + out, radius + out);
  }
  if (hasFocus() && index == current_) {
    painter.setPen(QPen(theme_.color(Role::text), 1.5, Qt::DashLine));
    painter.drawRect(place.adjusted(-ring + 1, -ring + 1, ring - 1, ring - 1));
  }
}

void CellsPicture::draw_texts(QPainter& painter, const Cell& cell, const QRectF& place, const QColor& ground) const {
  const CellText text = cell_text(view_, cell, metric_);
  const double line = layout_.line;
  const bool waits = untouched(view_, cell);
  const QColor strong = text.failed ? theme_.color(Role::error)
                        : waits     ? theme_.color(Role::dimmed)
                                    : readable_on(theme_, ground);
  const QColor alarm =
      contrast(theme_.color(Role::error), ground) > 2.6 || text.failed ? theme_.color(Role::error) : strong;
  const bool large = layout_.whole && layout_.cell.height() > 5.5 * line;
  const QFont head = waits ? scaled(font(), 1, false) : scaled(font(), large ? 1.5 : layout_.whole ? 1.25 : 1, true);
  const QRectF inside = place.adjusted(3, 2, -3, -2);
  if (!layout_.whole) {
    const bool say_alarm = waits && !text.alarm.isEmpty();
    const QString said = say_alarm ? text.alarm : text.head;
    if (QFontMetricsF(head).horizontalAdvance(said) <= inside.width())
      draw_line(painter, inside, head, say_alarm ? theme_.color(Role::error) : strong, said);
    return;
  }
  const QFont small = scaled(font(), 0.9, false);
  const bool bars = cell.runs.size() > 1 || trains(view_, cell);
  double height = (large ? 1.6 : 1.25) * line + (text.below.isEmpty() ? 0 : line) + (bars ? 0.8 * line : 0) +
                  (text.alarm.isEmpty() ? 0 : line);
  const bool alarm_fits = height <= inside.height() + 1;
  height -= alarm_fits ? 0 : line;
  double y = inside.center().y() - height / 2;
  const auto next = [&](double lines) {
    const QRectF row(inside.left(), y, inside.width(), lines * line);
    y += lines * line;
    return row;
  };
  if (!text.alarm.isEmpty() && alarm_fits)
    draw_alarm(painter, next(1), scaled(font(), 0.9, true), alarm, text.alarm);
  draw_line(painter, next(large ? 1.6 : 1.25), head, strong, text.head);
  if (!text.below.isEmpty())
    draw_line(painter, next(1), small, strong, text.below);
  if (bars)
    draw_bars(painter, cell, next(0.8), ground);
}

/// A bar for each repeat; more than there is room for become one bar.
void CellsPicture::draw_bars(QPainter& painter, const Cell& cell, const QRectF& room, const QColor& ground) const {
  const double line = layout_.line;
  const double gap = 0.25 * line;
  const auto count = static_cast<double>(cell.runs.size());
  const double width = std::min(1.7 * line, (room.width() * 0.9 - gap * (count - 1)) / count);
  const QColor full = readable_on(theme_, ground);
  const auto draw = [&](const QRectF& bar, double done, const QColor& color) {
    QColor rest = full;
    rest.setAlphaF(0.22F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(rest);
    painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2);
    if (done <= 0)
      return;
    painter.setBrush(color);
    painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(std::max(bar.width() * done, bar.height()), bar.height())),
                            bar.height() / 2, bar.height() / 2);
  };
  QColor done_color = full;
  done_color.setAlphaF(0.75F);
  const double height = 0.3 * line;
  const double y = room.center().y() - height / 2 + 0.1 * line;
  const auto done_of = [&](std::size_t run) {
    const ShownRun& shown = view_.runs[run];
    return is_over(shown.stage) ? 1.0 : shown.progress.value_or(0);
  };
  if (width < 0.4 * line) {
    double done = 0;
    for (const std::size_t run : cell.runs)
      done += done_of(run);
    const QRectF bar(room.left() + room.width() * 0.1, y, room.width() * 0.8, height);
    return draw(bar, done / count, done_color);
  }
  double x = room.center().x() - (width * count + gap * (count - 1)) / 2;
  for (const std::size_t run : cell.runs) {
    const bool failed = view_.runs[run].stage == RunStage::failed;
    draw({x, y, width, height}, done_of(run), failed ? theme_.color(Role::error) : done_color);
    x += width + gap;
  }
}

ColorLegend::ColorLegend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&theme, &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
  setToolTip(tr("Stronger colours mean better values"));
  hide();
}

void ColorLegend::show_range(const QString& worst, const QString& best) {
  worst_ = worst;
  best_ = best;
  setVisible(!worst.isEmpty());
  setAccessibleName(tr("Colours from %1 to %2").arg(worst, best));
  updateGeometry();
  update();
}

QSize ColorLegend::sizeHint() const {
  const QFontMetrics metrics(font());
  return {metrics.horizontalAdvance(worst_) + metrics.horizontalAdvance(best_) + Theme::lines(8), Theme::lines(1.3)};
}

void ColorLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme_.color(Role::dimmed));
  painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, worst_);
  painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter, best_);
  const QFontMetrics metrics(font());
  const int gap = Theme::lines(0.5);
  const double height = Theme::lines(0.45);
  const QRectF bar(metrics.horizontalAdvance(worst_) + gap, (this->height() - height) / 2,
                   width() - metrics.horizontalAdvance(worst_) - metrics.horizontalAdvance(best_) - 2 * gap, height);
  QLinearGradient colors(bar.topLeft(), bar.topRight());
  colors.setColorAt(0, cell_color(theme_, 0));
  colors.setColorAt(1, cell_color(theme_, 1));
  painter.setPen(Qt::NoPen);
  painter.setBrush(colors);
  painter.drawRoundedRect(bar, height / 2, height / 2);
}

} // namespace batchscope::ui
