#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

QString text_of(const StackedBar::Part& part) {
  const QString text = StackedBar::tr("%1: %2").arg(part.name, format_bytes(part.bytes));
  return part.missing ? StackedBar::tr("%1 (did not fit)").arg(text) : text;
}

/// Pixels per byte for a bar of this width that shows the limit, too.
double scale_of(const QList<StackedBar::Part>& parts, double limit, double width) {
  double all = 0;
  for (const auto& part : parts)
    all += part.bytes;
  return width / std::max({all, limit, 1.0});
}

} // namespace

StackedBar::StackedBar(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Memory use by kind"));
  connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void StackedBar::set_parts(const QList<Part>& parts, double limit) {
  parts_ = parts;
  limit_ = limit;
  QStringList texts;
  for (const Part& part : parts)
    texts.append(text_of(part));
  if (limit > 0)
    texts.append(tr("Limit: %1").arg(format_bytes(limit)));
  setAccessibleDescription(texts.join(QStringLiteral("; ")));
  update();
}

QSize StackedBar::sizeHint() const {
  return {Theme::lines(18), Theme::lines(1.4)};
}

QSize StackedBar::minimumSizeHint() const {
  return {Theme::lines(6), Theme::lines(1.4)};
}

void StackedBar::paintEvent(QPaintEvent* /*event*/) {
  constexpr double gap = 1, limit_width = 2;
  QPainter painter(this);
  const double scale = scale_of(parts_, limit_, width());
  double from = 0;
  for (const Part& part : parts_) {
    const double length = part.bytes * scale;
    if (part.missing) {
      QPen dashed(theme_.color(Role::error), 1);
      dashed.setDashPattern({3, 2});
      painter.setPen(dashed);
      painter.setBrush(theme_.color(Role::grid));
      painter.drawRect(QRectF(std::round(from) + 0.5, 0.5, std::max(std::round(length) - 1, 3.0), height() - 1.0));
    } else if (part.bytes > 0) {
      // Every part is visible, however small.
      painter.fillRect(QRectF(from, 0, std::max(length - gap, 1.0), height()), theme_.series(part.series));
    }
    from += length;
  }
  if (limit_ > 0)
    painter.fillRect(QRectF(limit_ * scale - limit_width, 0, limit_width, height()), theme_.color(Role::error));
}

bool StackedBar::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const double scale = scale_of(parts_, limit_, width());
  double from = 0;
  for (const Part& part : parts_) {
    const double to = from + part.bytes * scale;
    if (help->x() >= from && help->x() <= std::max(to, from + 2)) {
      QToolTip::showText(help->globalPos(), text_of(part), this);
      return true;
    }
    from = to;
  }
  QToolTip::hideText();
  return true;
}

} // namespace batchscope::ui
