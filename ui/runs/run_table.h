#pragma once

#include <QJsonObject>
#include <QTableView>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ui/runs/run_columns.h"

class QMenu;

namespace batchscope::ui {

class RunFilter;
class Theme;

/// The view of all runs: columns that can be hidden and moved, rows that keep their place while they change. UI thread.
class RunTable : public QTableView {
  Q_OBJECT

public:
  RunTable(const Theme& theme, RunFilter& runs, QWidget* parent = nullptr);

  std::vector<std::int64_t> selected_runs() const; ///< in the order shown
  std::optional<std::int64_t> current_run() const; ///< nothing where the current one is not selected
  void edit(RunColumnIndex column);                ///< in the current row
  /// Puts other rows into the model. What is at the upper edge stays there; where the selected rows went away, the row
  /// in their place is selected.
  void change_rows(const std::function<void()>& change);

  /// Selected rows with a line of titles, in the columns as shown: for spreadsheets.
  QString selected_text(QChar separator) const;

  QMenu* columns_menu() const { return columns_menu_; }
  void reset_columns();
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void chosen(); ///< a double click on a row, but not on what it edits
  void selection_changed();

protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
  void make_columns_menu();
  std::vector<int> shown_columns() const; ///< in the order shown
  std::vector<int> selected_rows() const; ///< of the filter, ascending

  RunFilter& runs_;
  QMenu* columns_menu_;
};

} // namespace batchscope::ui
