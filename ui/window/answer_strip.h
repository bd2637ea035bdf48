#pragma once

#include <QFrame>

#include "ui/engine/engine.h"

class QLabel;
class QPushButton;

namespace batchscope::ui {

class Theme;
class Workbench;

/// The result of the demo, at the bottom of the window, where its progress was shown; stays until it is dismissed or
/// the next demo starts.
class AnswerStrip : public QFrame {
  Q_OBJECT

public:
  explicit AnswerStrip(Workbench& workbench, QWidget* parent = nullptr);
  /// `spec` is common to all runs of the demo.
  void show_answer(const run::RunSpec& spec, const sweep::Recommendation& chosen);

private:
  void take(const Job& job);

  Workbench& workbench_;
  QLabel* headline_;
  QLabel* reason_;
  QPushButton* train_;
  run::RunSpec spec_; ///< with the recommended batch size
};

} // namespace batchscope::ui
