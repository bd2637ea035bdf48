#pragma once

#include <QLayout>

namespace batchscope::ui {

/// Places items side by side in lines, like words; the last item takes the rest of its line. UI thread.
class FlowLayout : public QLayout {
public:
  FlowLayout(int gap, QWidget* parent);
  ~FlowLayout() override;

  void insertWidget(int index, QWidget* widget);
  void addItem(QLayoutItem* item) override;
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place({0, 0, width, 0}, false); }
  QSize sizeHint() const override { return minimumSize(); }
  QSize minimumSize() const override;
  void setGeometry(const QRect& room) override;

private:
  int place(const QRect& room, bool really) const;

  QList<QLayoutItem*> items_;
  int gap_;
};

} // namespace batchscope::ui
