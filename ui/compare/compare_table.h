#pragma once

#include <QTableView>

#include <optional>

#include "ui/compare/comparison_view.h"

class QMenu;

namespace batchscope::ui {

class CompareTableModel;
class Theme;

/// The table of a comparison. Selecting rows marks their runs, and marked rows look selected. UI thread.
class CompareTable : public QTableView {
  Q_OBJECT

public:
  CompareTable(const Theme& theme, ComparisonView& view, QWidget* parent = nullptr);

  CompareTableModel& runs() { return *runs_; }
  /// The columns that can be shown; filled when it opens.
  QMenu* columns_menu() const { return columns_menu_; }
  /// Makes the current row's run the baseline, or none if it is that already.
  void toggle_baseline();
  /// The run of the current row; nothing in a table of groups.
  std::optional<std::size_t> current_run() const;
  /// Marked rows (all without marks) with a header line, separated by tabs.
  QString selected_text() const;

Q_SIGNALS:
  /// A row was double-clicked, or Return pressed.
  void chosen();
  void value_at_step_wanted();

protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

private:
  void show_marks(const QObject* by);
  void restore_current();
  void fit_columns();
  void fill_columns_menu();

  ComparisonView& view_;
  CompareTableModel* runs_;
  QMenu* columns_menu_;
  qint64 current_id_ = 0;  ///< of the current row before a reset; 0: none
  bool following_ = false; ///< the selection is being set from the marks
  bool fitting_ = false;   ///< widths are being set by fit_columns()
  bool spread_ = false;    ///< all widths are from fit_columns()
};

} // namespace batchscope::ui
