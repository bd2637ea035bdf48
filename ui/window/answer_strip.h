#pragma once

#include <QFrame>

#include "ui/engine/engine.h"

class QLabel;
class QPushButton;

namespace batchscope::ui {

class Theme;
class Workbench;

/// At the bottom of the window, where its progress was: what the demo came to, until it is dismissed or the next one
/// begins.
class AnswerStrip : public QFrame {
  Q_OBJECT

public:
  explicit AnswerStrip(Workbench& workbench, QWidget* parent = nullptr);
  /// `spec` is what all runs of the demo had in common.
  void show_answer(const run::RunSpec& spec, const sweep::Recommendation& chosen);

private:
  void take(const Job& job);

  Workbench& workbench_;
  QLabel* headline_;
  QLabel* reason_;
  QPushButton* train_;
  run::RunSpec spec_; ///< of a run with the size that is recommended
};

} // namespace batchscope::ui
