#pragma once

#include <QWidget>

#include "ui/plan/plan_editor.h"
#include "ui/widgets/widgets.h"

class QListView;
class QStringListModel;

namespace batchscope::ui {

/// The plan in numbers: its length, its largest batch, the memory and micro batches that this takes, and the steps at
/// which the schedule was clamped.
class PlanCards : public QWidget {
  Q_OBJECT

public:
  explicit PlanCards(QWidget* parent = nullptr);

  void show_plan(const PlanEditor& editor);
  /// Why there is no prediction, or that it is in progress; a draft without one offers it.
  void set_prediction(const QString& text, bool offered);

Q_SIGNALS:
  void prediction_wanted();

private:
  void show_length(const PlanEditor& editor);
  void show_memory(const PlanEditor& editor);
  void show_events(const schedule::Plan& plan);

  Card* plan_card_;
  FactList* length_;
  QLabel* feedback_;
  Card* memory_card_;
  FactList* memory_;
  QLabel* prediction_text_;
  QPushButton* predict_;
  Card* events_card_;
  QStringListModel* events_;
  QListView* events_view_;
};

} // namespace batchscope::ui
