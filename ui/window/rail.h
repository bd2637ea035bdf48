#pragma once

#include <QFrame>

class QAction;
class QVBoxLayout;

namespace batchscope::ui {

/// The places of the window at its left, icon above text; one of them is chosen. UI thread.
class Rail : public QFrame {
  Q_OBJECT

public:
  explicit Rail(QWidget* parent = nullptr);

  /// A place for a checkable action, which is triggered when it is chosen here and shows what is chosen.
  void add(QAction& place);

private:
  QVBoxLayout* layout_;
};

} // namespace batchscope::ui
