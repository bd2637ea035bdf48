#pragma once

#include <QWidget>

#include "ui/opened_runs/open_run.h"

class QLabel;

namespace batchscope::ui {

class Card;
class OutputBox;

/// Why a run ended or cannot be read, with the last that its program wrote; hidden if unknown. UI thread.
class ReasonCard : public QWidget {
  Q_OBJECT

public:
  explicit ReasonCard(QWidget* parent = nullptr);

  void show_run(const OpenRun* run); ///< null: none

private:
  Card* card_;
  QLabel* text_;
  OutputBox* output_;
};

} // namespace batchscope::ui
