#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

#include "ui/theme/sample_dashes.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QStyleOptionViewItem shown = as_painted(option, index);
  const QStyle* style = shown.widget ? shown.widget->style() : QApplication::style();
  style->drawControl(QStyle::CE_ItemViewItem, &shown, painter, shown.widget);
}

QString CellDelegate::shown_text(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return as_painted(option, index).text;
}

QStyleOptionViewItem CellDelegate::as_painted(QStyleOptionViewItem option, const QModelIndex& index) const {
  initStyleOption(&option, index);
  fit_text(option);
  return option;
}

bool CellDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                             const QModelIndex& index) {
  const QString text = index.data(Qt::DisplayRole).toString();
  if (event->type() == QEvent::ToolTip && index.isValid() && index.data(Qt::ToolTipRole).toString().isEmpty() &&
      shown_text(option, index) != displayText(index.data(Qt::DisplayRole), option.locale)) {
    QToolTip::showText(event->globalPos(), text, view);
    return true;
  }
  return QStyledItemDelegate::helpEvent(event, view, option, index);
}

RowDelegate::RowDelegate(const Theme& theme, QObject* parent) : CellDelegate(parent), theme_(theme) {}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  // Selection and focus are drawn for the whole row; the style would draw all texts in one colour.
  QStyleOptionViewItem plain = option;
  plain.state &= ~(QStyle::State_HasFocus | QStyle::State_Selected);
  if (option.state & QStyle::State_Selected)
    painter->fillRect(option.rect, theme_.color(Role::chosen));
  CellDelegate::paint(painter, plain, index);
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
