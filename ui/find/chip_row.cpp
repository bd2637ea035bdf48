#include "ui/find/chip_row.h"

#include <QEvent>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

ChipRow::ChipRow(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ChipRow::set_chips(const QList<Chip>& chips) {
  while (pills_.size() > chips.size())
    delete pills_.takeLast();
  while (pills_.size() < chips.size())
    pills_ << new Pill(this);
  for (qsizetype i = 0; i < chips.size(); ++i) {
    pills_[i]->show_text(chips[i].text, Pill::Tone::neutral);
    pills_[i]->setToolTip(chips[i].tip);
  }
  updateGeometry();
  fit();
}

QSize ChipRow::sizeHint() const {
  QSize size(0, 0);
  for (const Pill* pill : pills_) {
    pill->ensurePolished();
    const int gap = size.isEmpty() ? 0 : Theme::lines(0.5);
    size = {size.width() + gap + pill->sizeHint().width(), std::max(size.height(), pill->sizeHint().height())};
  }
  return size;
}

bool ChipRow::event(QEvent* event) {
  if (event->type() == QEvent::StyleChange || event->type() == QEvent::LayoutRequest) {
    updateGeometry();
    fit();
  }
  return QWidget::event(event);
}

void ChipRow::resizeEvent(QResizeEvent* /*event*/) {
  fit();
}

void ChipRow::fit() {
  int x = 0;
  for (Pill* pill : pills_) {
    const QSize size = pill->sizeHint();
    pill->setGeometry(QRect(QPoint(x, (height() - size.height()) / 2), size));
    x += size.width();
    pill->setVisible(x <= width());
    x += Theme::lines(0.5);
  }
}

} // namespace batchscope::ui

#include "moc_chip_row.cpp"
