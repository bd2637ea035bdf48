#pragma once

#include <QAbstractTableModel>
#include <QUrl>

#include "core/advice/sources.h"

namespace batchscope::ui {

/// A table of advice as it is, each row with its source. UI thread.
class TableModel : public QAbstractTableModel {
  Q_OBJECT

public:
  using QAbstractTableModel::QAbstractTableModel;

  /// Reads the table; throws as advice::read_table().
  void read(const QString& name);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
  struct Row {
    QStringList cells;
    QUrl address; ///< of its source
  };
  QStringList titles_;
  QList<Row> rows_;
  int source_ = -1; ///< the column that names it
};

} // namespace batchscope::ui
