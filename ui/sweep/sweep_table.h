#pragma once

#include <QTableView>

#include "ui/sweep/sweep_run_model.h"

class QSortFilterProxyModel;

namespace batchscope::ui {

/// The runs of a sweep below its picture. What can be done with a run is written in its row, and can be clicked. UI
/// thread.
class SweepTable : public QTableView {
  Q_OBJECT

public:
  explicit SweepTable(const Theme& theme, QWidget* parent = nullptr);

  void show_sweep(const SweepView& view, Metric metric);
  std::vector<std::size_t> chosen() const; ///< entries of the selected rows
  void choose(const std::vector<std::size_t>& entries);
  /// Sorted by the model's own order, as after a third click on a title.
  void reset_order();

Q_SIGNALS:
  void choice_changed(); ///< by the user, not by choose()
  void opened(qulonglong entry);
  // Clicked in the row of an entry.
  void move_wanted(qulonglong entry, bool up);
  void skip_wanted(qulonglong entry);
  void stop_wanted(qulonglong entry);

private:
  void fit_columns();
  void act(const QModelIndex& index, int word);

  const Theme& theme_;
  SweepRunModel* model_;
  QSortFilterProxyModel* sorted_;
  bool choosing_ = false;
};

} // namespace batchscope::ui
