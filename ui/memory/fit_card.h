#pragma once

#include "ui/widgets/widgets.h"

class QComboBox;
class QPushButton;

namespace batchscope::estimate {
struct Target;
}

namespace batchscope::ui {

struct FitAnswer;
class MemoryParts;

/// "Will it fit?": a training on a GPU that need not be here, what fills its memory, and what to change. UI thread.
class FitCard : public Card {
  Q_OBJECT

public:
  /// `on_demand`: it is computed when the button is pressed, and can be stopped; else with each change.
  FitCard(const Theme& theme, bool on_demand, QWidget* parent = nullptr);

  QString chosen() const;           ///< name of the GPU; empty if the table of GPUs cannot be read
  void choose(const QString& card); ///< not while something on demand is computed
  void show_none(const QString& text);
  void show_working(const QString& activity);
  /// `working`: more is coming.
  void show_answer(const FitAnswer& answer, const estimate::Target& card, const QString& working = {});
  void show_failure(const QString& error);

Q_SIGNALS:
  void wanted();       ///< the answer for the chosen GPU
  void unwanted();     ///< the one that is computed
  void card_changed(); ///< by the user

private:
  void show_text(const QString& text, bool works);
  void show_parts(bool answer);

  QComboBox* cards_;
  QPushButton* start_;
  QLabel* text_;
  MemoryParts* parts_;
  FactList* facts_;
  QLabel* savings_title_;
  FactList* savings_;
  bool works_ = false;
};

} // namespace batchscope::ui
