#pragma once

#include "ui/widgets/widgets.h"

namespace batchscope::program {
struct Tryout;
}

namespace batchscope::ui {

class OutputBox;

/// Result of the test of a program: its last output, and measured numbers. UI thread.
class TestCard : public Card {
  Q_OBJECT

public:
  explicit TestCard(QWidget* parent = nullptr);

  void show_none();
  void show_working(const QString& activity);
  void show_result(const program::Tryout& tried);
  void show_failure(const QString& error);

private:
  QLabel* text_;
  OutputBox* output_;
  QLabel* facts_;
};

} // namespace batchscope::ui
