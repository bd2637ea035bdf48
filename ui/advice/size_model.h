#pragma once

#include <QAbstractTableModel>

#include "core/advice/advice.h"

namespace batchscope::ui {

/// The rows of an answer: micro batch, accumulation, effective batch, why, source. UI thread.
class SizeModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum Column { micro_column, accumulate_column, effective_column, why_column, source_column, column_count };

  using QAbstractTableModel::QAbstractTableModel;

  void set_rows(std::vector<advice::SizeRow> rows);
  const advice::SizeRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
  std::vector<advice::SizeRow> rows_;
};

} // namespace batchscope::ui
