#include "ui/widgets/flow_layout.h"

#include <QWidget>

#include <algorithm>

namespace batchscope::ui {

FlowLayout::FlowLayout(int gap, QWidget* parent) : QLayout(parent), gap_(gap) {
  setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
  qDeleteAll(items_);
}

void FlowLayout::insertWidget(int index, QWidget* widget) {
  addChildWidget(widget);
  items_.insert(index, new QWidgetItem(widget));
  invalidate();
}

void FlowLayout::addItem(QLayoutItem* item) {
  items_.append(item);
}

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

QSize FlowLayout::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_)
    size = size.expandedTo(item->minimumSize());
  return size;
}

void FlowLayout::setGeometry(const QRect& room) {
  QLayout::setGeometry(room);
  place(room, true);
}

int FlowLayout::place(const QRect& room, bool really) const {
  int x = room.left(), y = room.top(), height = 0;
  for (const QLayoutItem* item : items_) {
    if (item->isEmpty())
      continue;
    const bool last = item == items_.last();
    const QSize size = item->sizeHint();
    const int least = last ? item->minimumSize().width() : size.width();
    if (x > room.left() && x + least > room.left() + room.width()) {
      x = room.left();
      y += height + gap_;
      height = 0;
    }
    if (really)
      const_cast<QLayoutItem*>(item)->setGeometry(
          {QPoint(x, y), QSize(last ? std::max(room.left() + room.width() - x, least) : size.width(), size.height())});
    x += size.width() + gap_;
    height = std::max(height, size.height());
  }
  return y + height - room.top();
}

} // namespace batchscope::ui
