#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double min_lines = 2; ///< of width: a few letters

} // namespace

ElidedLabel::ElidedLabel(Qt::TextElideMode mode, QWidget* parent) : QLabel(parent), mode_(mode) {
  setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const {
  const QSize whole = QLabel::sizeHint();
  return {std::min(whole.width(), Theme::lines(min_lines)), whole.height()};
}

QString ElidedLabel::fitted() const {
  return fitted_text(text(), fontMetrics(), contentsRect().width(), mode_);
}

void ElidedLabel::paintEvent(QPaintEvent* event) {
  if (fitted() == text()) {
    QLabel::paintEvent(event);
    return;
  }
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  painter.drawText(contentsRect(), static_cast<int>(alignment()) | Qt::TextSingleLine, fitted());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || fitted() == text())
    return QLabel::event(event);
  const QString tip = toolTip().isEmpty() ? text() : text() + u'\n' + toolTip();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), tip, this);
  return true;
}

} // namespace batchscope::ui
