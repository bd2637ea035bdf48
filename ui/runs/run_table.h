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

/// The table of all runs: columns can be hidden and moved; rows stay in place while their values change. UI thread.
class RunTable : public QTableView {
  Q_OBJECT

public:
  RunTable(const Theme& theme, RunFilter& runs, QWidget* parent = nullptr);

  std::vector<std::int64_t> selected_runs() const; ///< in displayed order
  /// Selects these runs and scrolls to the first; those that are not shown are left out. Returns how many are selected.
  int select_runs(const QList<qint64>& runs);
  std::optional<std::int64_t> current_run() const; ///< nothing if the current run is not selected
  void edit(int column);                           ///< edits a cell of the current row
  /// Changes the model's rows. Keeps the top row in place; if the selected rows disappear, selects the row that takes
  /// their place.
  void change_rows(const std::function<void()>& change);
  /// Sets the filter's text. Runs that stay keep their selection; the top row and the current row stay in place or are
  /// replaced by the next run that is shown.
  void filter_rows(const QString& text);

  /// Selected rows with a header line, in the displayed columns: for spreadsheets.
  QString selected_text(QChar separator) const;

  QMenu* columns_menu() const { return columns_menu_; }
  void reset_columns();
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void chosen(); ///< a row was double-clicked, except where that starts editing
  void selection_changed();

protected:
  void selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
  void make_columns_menu();
  std::vector<int> shown_columns() const; ///< in displayed order
  std::vector<int> selected_rows() const; ///< rows of the filter, ascending
  std::int64_t run_at(int row) const;     ///< of the filter
  int row_of(std::int64_t run) const;     ///< of the filter; -1 if it is not shown

  RunFilter& runs_;
  QMenu* columns_menu_;
};

} // namespace batchscope::ui
