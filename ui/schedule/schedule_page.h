#pragma once

#include <QPointer>
#include <QTimer>

#include "ui/plan/plan_editor.h"
#include "ui/schedule/draft_memory.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QAction;
class QComboBox;
class QStackedWidget;

namespace batchscope::ui {

class EmptyState;
class PlanCards;
class ScheduleForm;
class ScheduleHeader;
class SchedulePlots;

/// Shows how the batch size will change: plots a training run from its first to its last step before it runs, or the
/// rest of a running one, and edits the schedule by typing and dragging.
class SchedulePage : public Page {
  Q_OBJECT

public:
  explicit SchedulePage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("schedule"); }
  QString title() const override { return tr("Schedule"); }
  QString icon() const override { return QStringLiteral("schedule"); }
  QList<QAction*> page_actions() const override;
  QList<KeyGroup> key_groups() const override;
  bool shows_problem(const QString& problem) const override {
    return !start_error_.isEmpty() && problem.contains(start_error_);
  }
  QUndoStack* undo_stack() override { return &workbench_.undo_stack(); }
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void showEvent(QShowEvent* event) override;

private:
  void make_actions();
  QWidget* make_body();
  void connect_parts();

  void list_choices();
  void choose(int index);
  void edit_draft(const DraftPlan& draft);
  void change_draft(const DraftPlan& draft);
  void return_to_draft();
  void show_draft();
  bool edit_proposed(const run::RunSpec& spec);
  void edit_again(const OpenRun& run);
  void edit_run(OpenRun* run);
  void edit_nothing();
  void take_keyboard(bool of_draft);
  void let_go_of_run();
  void find_memory();

  void show_plan();
  void show_header();
  void show_prediction();
  void type(const QString& schedule);
  void apply();
  void drag(qint64 stretch, qint64 batch);
  void drop(qint64 stretch, qint64 batch);
  void start_draft();
  void start(const run::RunSpec& spec);
  void show_start_error(const Job& job);
  run::RunSpec draft_spec() const;
  bool changeable() const;

  Workbench& workbench_;
  PlanEditor editor_;
  bool has_draft_ = false;
  bool proposed_ = false; ///< the page is about to be shown for a draft
  DraftMemory memory_;
  bool start_wanted_ = false; ///< start once the preview is applied
  QString start_error_;       ///< error of the last start, if a field of this page shows it
  QTimer new_events_;         ///< combines events that arrive together

  QAction* apply_action_ = nullptr;
  QAction* discard_action_ = nullptr;
  QAction* start_action_ = nullptr;
  QAction* copy_action_ = nullptr;
  QAction* undo_action_ = nullptr;
  QAction* redo_action_ = nullptr;

  ScheduleHeader* header_ = nullptr;
  QComboBox* edited_ = nullptr; ///< the plans in the header
  QStackedWidget* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  QWidget* body_ = nullptr;
  EmptyState* undrawn_ = nullptr; ///< replaces the plots if a draft has nothing to plot
  ScheduleForm* form_ = nullptr;
  SchedulePlots* plots_ = nullptr;
  PlanCards* cards_ = nullptr;
};

} // namespace batchscope::ui
