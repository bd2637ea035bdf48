#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/find/search_view.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// The sizes that a search ran, in order. Grows during the search and keeps the selection.
class ProbeModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum Column { number, batch, predicted, real, result, column_count };

  explicit ProbeModel(const Theme& theme, QObject* parent = nullptr);

  void set_rows(std::vector<ProbeRow> rows);
  const std::vector<ProbeRow>& rows() const { return rows_; }
  /// The row of a trial by its number; -1 if there is none.
  int row_of_number(int number) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
  QString text(const ProbeRow& row, int column) const;
  QVariant foreground(const ProbeRow& row, int column) const;
  QString tip(const ProbeRow& row) const;

  const Theme& theme_;
  std::vector<ProbeRow> rows_;
};

} // namespace batchscope::ui
