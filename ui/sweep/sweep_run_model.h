#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/sweep/sweep_view.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// The runs of a sweep as rows: first what trains, then what waits, in its order, then what has ended, the newest
/// first, then what is missing. A plan has its own order. Keeps selections while the sweep goes on.
class SweepRunModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum class Column { run, field, seed, status, peak, time, value, actions };
  enum { sort_role = Qt::UserRole, actions_role };

  explicit SweepRunModel(const Theme& theme, QObject* parent = nullptr);

  void show_sweep(const SweepView& view, Metric metric);
  const SweepView& view() const { return view_; }
  std::size_t entry(int row) const { return order_[static_cast<std::size_t>(row)]; } ///< index into the view's runs
  int row_of(std::size_t entry) const;                                               ///< -1 if there is none
  Column column(int column) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
  std::vector<std::size_t> order_of(const SweepView& view) const;
  void take_order(std::vector<std::size_t> order);
  bool same_columns(const SweepView& view, Metric metric) const;
  QString text(std::size_t entry, int column) const;
  QVariant sort_key(std::size_t entry, int column) const;
  QVariant foreground(const ShownRun& run, Column column) const;
  QStringList actions(const ShownRun& run) const;
  const std::vector<Column>& columns_behind() const; ///< the fields
  std::size_t field(int column) const { return static_cast<std::size_t>(column - 1); }

  const Theme& theme_;
  SweepView view_;
  Metric metric_ = Metric::accuracy;
  std::vector<std::size_t> order_; ///< entries, by row
};

/// Whether a column shows numbers, which are right-aligned.
bool is_numeric(const SweepRunModel& model, int column);

} // namespace batchscope::ui
