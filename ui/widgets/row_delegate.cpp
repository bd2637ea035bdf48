#include <QPainter>

#include "ui/theme/sample_dashes.h"
#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

RowDelegate::RowDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  // Selection and focus are drawn for the whole row; the style would draw all texts in one colour.
  QStyleOptionViewItem plain = option;
  plain.state &= ~(QStyle::State_HasFocus | QStyle::State_Selected);
  if (option.state & QStyle::State_Selected)
    painter->fillRect(option.rect, theme_.color(Role::chosen));
  QStyledItemDelegate::paint(painter, plain, index);
}

QPixmap line_sample(const Theme& theme, int series, const QSize& size, double ratio) {
  QPixmap pixmap(size * ratio);
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  QPen pen(theme.series(series), 2.5);
  pen.setCapStyle(Qt::FlatCap);
  if (const auto dashes = theme.dashes(series); !dashes.isEmpty())
    pen.setDashPattern(sample_dashes(dashes, pen.widthF(), size.width()));
  painter.setPen(pen);
  const double middle = static_cast<double>(size.height()) / 2;
  painter.drawLine(QPointF(0, middle), QPointF(size.width(), middle));
  return pixmap;
}

} // namespace batchscope::ui
