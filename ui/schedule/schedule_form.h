#pragma once

#include <QList>
#include <QWidget>

#include "ui/plan/planner.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace batchscope::ui {

class LabelledEdit;

/// The schedule as text, with forms to begin from, and for a draft its first batch and its length; each says in place
/// what is wrong with it.
class ScheduleForm : public QWidget {
  Q_OBJECT

public:
  explicit ScheduleForm(QWidget* parent = nullptr);

  void show_draft(const DraftPlan& draft);
  /// Of a run, first batch and length are settled; of one that is over, all is.
  void show_run(bool running);
  void set_schedule(const QString& text);
  QString schedule() const;
  /// Gives the schedule's field the keyboard, its text selected: what is typed next takes its place.
  void focus_schedule();
  /// Of the plan: shown at the field that it is about.
  void set_error(const QString& error);
  /// Of a start that was refused, by the key of the field that is to blame: shown there until it is changed, with the
  /// keyboard in it. False where it is not one of these.
  bool show_refusal(const std::string& field, const QString& error);
  /// What the forms offered are made for.
  void set_size(std::int64_t batch, std::int64_t steps, double epochs);

Q_SIGNALS:
  void typed(const QString& schedule);
  void entered();   ///< Return, or a form was chosen
  void dismissed(); ///< Escape
  void draft_edited(const batchscope::ui::DraftPlan& draft);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void read_draft();
  void set_changeable(bool changeable);
  void show_length();

  bool batch_refused_ = false; ///< by the plan, not for how it is written

  DraftPlan draft_;
  LabelledEdit* schedule_;
  QPushButton* presets_;
  QMenu* menu_;
  LabelledEdit* batch_;
  LabelledEdit* length_;
  QComboBox* unit_;
  QList<QWidget*> of_draft_; ///< what a run has settled
};

} // namespace batchscope::ui
