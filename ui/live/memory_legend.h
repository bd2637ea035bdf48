#pragma once

#include <QList>
#include <QWidget>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// Names and megabytes of a stacked bar's parts, in two columns. UI thread.
class MemoryLegend : public QWidget {
  Q_OBJECT

public:
  explicit MemoryLegend(const Theme& theme, QWidget* parent = nullptr);

  void set_parts(const QList<StackedBar::Part>& parts);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

protected:
  void paintEvent(QPaintEvent* event) override;

private:
  static QString text(const StackedBar::Part& part);

  const Theme& theme_;
  QList<StackedBar::Part> parts_;
};

} // namespace batchscope::ui
