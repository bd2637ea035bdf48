#pragma once

#include <QWidget>

#include "ui/plan/plan_editor.h"
#include "ui/widgets/widgets.h"

class QListView;
class QStringListModel;

namespace batchscope::ui {

/// The plan in numbers: how long it is, how large it gets, what memory that takes and how it will be run, and where the
/// schedule asked for what it does not get.
class PlanCards : public QWidget {
  Q_OBJECT

public:
  explicit PlanCards(QWidget* parent = nullptr);

  void show_plan(const PlanEditor& editor);
  /// What hinders a prediction, or that it is under way; a draft without memory offers one.
  void set_prediction(const QString& text, bool offered);

Q_SIGNALS:
  void prediction_wanted();

private:
  void show_length(const schedule::Plan& plan);
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
