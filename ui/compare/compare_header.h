#pragma once

#include <QWidget>

#include <optional>

#include "ui/compare/run_scope.h"

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;

namespace batchscope::ui {

class ComparisonView;
class FindingsButton;
class GoalBox;
class Pill;

/// The first lines of the Compare page: which runs, the filter, the goal, and what can be done with them. UI thread.
class CompareHeader : public QWidget {
  Q_OBJECT

public:
  CompareHeader(ComparisonView& view, QAction* report, QWidget* parent = nullptr);

  RunScope scope() const;
  void set_scope(const RunScope& scope);
  /// The sweeps that can be chosen, newest first, each with its number of runs.
  void set_sweeps(const std::vector<std::pair<std::int64_t, int>>& sweeps);
  GoalBox& goal() { return *goal_; }
  QLineEdit& filter() { return *filter_; }
  void show_filter_error(const QString& error); ///< empty: none
  void show_count();
  FindingsButton& findings() { return *findings_; }
  QString grouping() const;
  void set_grouping(const QString& field);
  QMenu* export_menu() const { return export_menu_; }
  QMenu* views_menu() const { return views_menu_; }
  void set_columns_menu(QMenu* menu);

Q_SIGNALS:
  void scope_changed();
  void filter_changed(const QString& text);
  void goal_changed();
  void grouping_changed();

private:
  void fill_groupings();

  ComparisonView& view_;
  QComboBox* scope_;
  RunScope chosen_; ///< the last runs that were chosen elsewhere
  Pill* count_;
  FindingsButton* findings_;
  QLineEdit* filter_;
  GoalBox* goal_;
  QComboBox* grouping_;
  QString wanted_grouping_;
  QMenu* export_menu_;
  QMenu* views_menu_;
  QLayout* second_row_ = nullptr;
};

} // namespace batchscope::ui
