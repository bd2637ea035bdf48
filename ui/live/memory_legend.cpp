#include "ui/live/memory_legend.h"

#include <QLocale>
#include <QPainter>
#include <QStringList>

namespace batchscope::ui {

namespace {

constexpr int columns = 2;

/// Megabytes with as many digits as tell something: 344.3, 0.05.
QString megabytes(double bytes) {
  const double value = bytes / 1e6;
  return QLocale().toString(value, 'f', value > 0 && value < 0.95 ? 2 : 1);
}

} // namespace

MemoryLegend::MemoryLegend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QString MemoryLegend::text(const StackedBar::Part& part) {
  return part.name + ' ' + megabytes(part.bytes);
}

void MemoryLegend::set_parts(const QList<StackedBar::Part>& parts) {
  parts_ = parts;
  QStringList texts;
  for (const StackedBar::Part& part : parts)
    texts += text(part);
  setAccessibleName(tr("What filled the memory, in MB: %1").arg(texts.join(", ")));
  updateGeometry();
  update();
}

QSize MemoryLegend::sizeHint() const {
  const int rows = static_cast<int>((parts_.size() + columns - 1) / columns);
  return {Theme::lines(14), rows * Theme::lines(1.25)};
}

void MemoryLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int row_height = Theme::lines(1.25);
  const int sample = Theme::lines(0.85);
  const int gap = Theme::lines(0.4);
  for (int i = 0; i < parts_.size(); ++i) {
    const StackedBar::Part& part = parts_[i];
    const QRect cell(i % columns * width() / columns, i / columns * row_height, width() / columns - gap, row_height);
    const QColor color = part.missing ? theme_.color(Role::error) : theme_.series(part.series);
    QPen pen(color, 3, part.missing ? Qt::DotLine : Qt::SolidLine, Qt::RoundCap);
    painter.setPen(pen);
    const double y = cell.center().y() + 0.5;
    painter.drawLine(QPointF(cell.left() + 2, y), QPointF(cell.left() + sample, y));
    painter.setPen(part.missing ? color : theme_.color(Role::text));
    const QRect place = cell.adjusted(sample + gap, 0, 0, 0);
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text(part), Qt::ElideRight, place.width()));
  }
}

} // namespace batchscope::ui
