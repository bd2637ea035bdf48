#include "ui/runs/run_delegates.h"

#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>

#include <cmath>
#include <optional>

#include "ui/runs/run_table_model.h"
#include "ui/texts/run_status.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// Draws a different shape for each status, inside `box`.
void draw_shape(QPainter& painter, const QString& status, const QRectF& box, const QColor& color) {
  const auto at = [&](double x, double y) {
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
  };
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color, box.width() / 6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  if (status == QLatin1String("finished")) {
    painter.drawPolyline(QPolygonF{at(0.08, 0.55), at(0.38, 0.85), at(0.95, 0.15)});
  } else if (status == QLatin1String("failed")) {
    painter.drawLine(at(0.15, 0.15), at(0.85, 0.85));
    painter.drawLine(at(0.15, 0.85), at(0.85, 0.15));
  } else if (status == QLatin1String("interrupted")) {
    painter.drawLine(at(0.5, 0.05), at(0.5, 0.6));
    painter.drawPoint(at(0.5, 0.95));
  } else if (status == QLatin1String("queued")) {
    painter.drawEllipse(box.adjusted(1, 1, -1, -1));
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (status == QLatin1String("running"))
      painter.drawPolygon(QPolygonF{at(0.1, 0), at(0.95, 0.5), at(0.1, 1)});
    else
      painter.drawRect(box.adjusted(1, 1, -1, -1));
  }
}

QColor tint(const QColor& color, double fraction) {
  QColor result = color;
  result.setAlphaF(static_cast<float>(fraction));
  return result;
}

void draw_field(QPainter& painter, const QRectF& field, const QColor& color, std::optional<double> progress) {
  constexpr double behind = 0.12;
  constexpr double done = 0.18;
  QPainterPath outline;
  outline.addRoundedRect(field, field.height() / 2, field.height() / 2);
  painter.fillPath(outline, tint(color, behind));
  if (!progress)
    return;
  painter.save();
  painter.setClipPath(outline);
  painter.fillRect(QRectF(field.topLeft(), QSizeF(field.width() * *progress, field.height())), tint(color, done));
  painter.restore();
}

} // namespace

StatusDelegate::StatusDelegate(const Theme& theme, QObject* parent) : CellDelegate(parent), theme_(theme) {}

void StatusDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  option->text.clear(); // drawn by paint()
}

void StatusDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  CellDelegate::paint(painter, option, index);
  const QString status = index.data(RunTableModel::status_role).toString();
  const QVariant fraction = index.data(RunTableModel::progress_role);
  const Role role = role_of_status(status);
  const bool in_field = role != Role::dimmed && role != Role::good; // needs attention
  const QColor color = theme_.color(role);
  QString text = index.data().toString();
  if (fraction.isValid())
    text += tr(" %1 %").arg(std::floor(fraction.toDouble() * 100), 0, 'f', 0);

  const QFontMetricsF metrics(option.font);
  const double shape = std::round(metrics.height() * 0.5);
  const double gap = std::round(metrics.height() * 0.4);
  const double inset = std::round(metrics.height() * 0.55); // the style sheet's padding of cells
  const double height = std::round(metrics.height() * 1.3);
  const QRectF cell = QRectF(option.rect).adjusted(inset, 0, -gap, -1);
  painter->save();
  painter->setClipRect(option.rect);
  painter->setRenderHint(QPainter::Antialiasing);
  double left = cell.left();
  if (in_field) {
    const double width = std::min(gap * 3 + shape + metrics.horizontalAdvance(text), cell.width());
    draw_field(*painter, {left, cell.center().y() - height / 2, width, height}, color,
               fraction.isValid() ? std::optional(fraction.toDouble()) : std::nullopt);
    left += gap;
  }
  draw_shape(*painter, status, {left, cell.center().y() - shape / 2, shape, shape}, color);
  left += shape + gap;
  painter->setPen(in_field ? color : theme_.color(Role::text));
  // In whole pixels, like the cells beside it.
  const QRect room(QPoint(qRound(left), option.rect.top()), QPoint(qRound(cell.right()), option.rect.bottom() - 1));
  painter->drawText(room, Qt::AlignVCenter | Qt::AlignLeft, fitted_text(text, metrics, room.width(), Qt::ElideRight));
  painter->restore();
}

TextDelegate::TextDelegate(const Theme& theme, QObject* parent) : CellDelegate(parent), theme_(theme) {}

void TextDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  option->textElideMode = Qt::ElideMiddle; // names often differ only at their ends
  const QVariant series = index.data(RunTableModel::series_role);
  if (!series.isValid())
    return;
  const QSize size(Theme::lines(1.5), Theme::lines(0.5));
  const double ratio = option->widget ? option->widget->devicePixelRatioF() : 1;
  const QPixmap sample = line_sample(theme_, series.toInt(), size, ratio);
  // The same in a selected row: its colour identifies the run.
  option->icon = QIcon();
  option->icon.addPixmap(sample, QIcon::Normal);
  option->icon.addPixmap(sample, QIcon::Selected);
  option->decorationSize = size;
  option->features |= QStyleOptionViewItem::HasDecoration;
}

QWidget* TextDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& /*option*/,
                                    const QModelIndex& index) const {
  auto* editor = new QLineEdit(parent);
  editor->setAccessibleName(index.model()->headerData(index.column(), Qt::Horizontal).toString());
  return editor;
}

void TextDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  auto* line = qobject_cast<QLineEdit*>(editor);
  if (line && !line->isModified())
    line->setText(index.data(Qt::EditRole).toString());
}

} // namespace batchscope::ui

#include "moc_run_delegates.cpp"
