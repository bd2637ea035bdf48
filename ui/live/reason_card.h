#pragma once

#include <QWidget>

#include "ui/opened_runs/open_run.h"

class QLabel;

namespace batchscope::ui {

class Card;

/// Why a run ended or cannot be read; hidden if unknown. UI thread.
class ReasonCard : public QWidget {
  Q_OBJECT

public:
  explicit ReasonCard(QWidget* parent = nullptr);

  void show_run(const OpenRun* run); ///< null: none

private:
  Card* card_;
  QLabel* text_;
};

} // namespace batchscope::ui
