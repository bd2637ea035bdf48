#pragma once

#include <QFrame>

class QAction;
class QVBoxLayout;

namespace batchscope::ui {

/// The page buttons at the left of the window, icon above text; one is selected. UI thread.
class Rail : public QFrame {
  Q_OBJECT

public:
  explicit Rail(QWidget* parent = nullptr);

  /// Adds a button for a checkable action: a click triggers the action, and the button shows its checked state.
  void add(QAction& place);

private:
  QVBoxLayout* layout_;
};

} // namespace batchscope::ui
