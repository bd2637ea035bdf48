#pragma once

#include <QList>
#include <QWidget>

#include "ui/plan/planner.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace batchscope::ui {

class LabelledEdit;
class OpenRun;
class SharesField;

/// The schedule as text, with examples, and for a draft its first batch and length; each field shows its own error.
class ScheduleForm : public QWidget {
  Q_OBJECT

public:
  explicit ScheduleForm(QWidget* parent = nullptr);

  void show_draft(const DraftPlan& draft);
  /// For a run, first batch and length are fixed; if it cannot be changed (any more), the schedule is, too.
  void show_run(const OpenRun& run, bool changeable);
  void set_schedule(const QString& text);
  QString schedule() const;
  SharesField& shares() { return *shares_; }
  /// Focuses the schedule field and selects its text, so that typing replaces it.
  void focus_schedule();
  /// Shows an error of the plan at the field that it is about.
  void set_error(const QString& error);
  /// Shows the error of a failed start at the field with this key until it is changed, and focuses the field. False if
  /// the form has no such field.
  bool show_start_error(const std::string& field, const QString& error);
  /// Sets the size of run for which the examples are made.
  void set_size(std::int64_t batch, std::int64_t steps, double epochs);

Q_SIGNALS:
  void typed(const QString& schedule);
  void shares_typed();
  void entered();   ///< Return in any field, or an example was chosen
  void dismissed(); ///< Escape
  void draft_edited(const batchscope::ui::DraftPlan& draft);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void read_draft();
  void read_length(const std::string& text, run::RunSpec& spec) const; ///< throws Error (input)
  /// `why_not`: empty if the schedule can be changed.
  void set_changeable(const QString& why_not);
  void show_length();

  bool batch_refused_ = false; ///< rejected by the plan, although it is a valid number

  DraftPlan draft_;
  LabelledEdit* schedule_;
  QPushButton* presets_;
  QMenu* menu_;
  SharesField* shares_;
  LabelledEdit* batch_;
  LabelledEdit* length_;
  QComboBox* unit_;
  QList<QWidget*> of_draft_; ///< fixed for a run
};

} // namespace batchscope::ui
