#include "ui/find/probe_model.h"

#include <algorithm>
#include <utility>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

QString megabytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_megabytes(static_cast<double>(*bytes)) : QStringLiteral("–");
}

} // namespace

ProbeModel::ProbeModel(const Theme& theme, QObject* parent) : QAbstractTableModel(parent), theme_(theme) {
  connect(&theme, &Theme::changed, this, [this] {
    if (!rows_.empty())
      Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1), {Qt::ForegroundRole});
  });
}

void ProbeModel::set_rows(std::vector<ProbeRow> rows) {
  const auto [old_end, new_end] = std::mismatch(rows_.begin(), rows_.end(), rows.begin(), rows.end());
  if (old_end != rows_.end()) {
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
  } else if (new_end != rows.end()) {
    beginInsertRows({}, rowCount(), static_cast<int>(rows.size()) - 1);
    rows_ = std::move(rows);
    endInsertRows();
  }
}

int ProbeModel::row_of_number(int number) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const ProbeRow& row) { return row.number == number; });
  return number > 0 && found != rows_.end() ? static_cast<int>(found - rows_.begin()) : -1;
}

int ProbeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ProbeModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QString ProbeModel::text(const ProbeRow& row, int column) const {
  switch (column) {
  case number:
    return row.number > 0 ? QString::number(row.number) : QString();
  case batch:
    return format_count(row.batch);
  case predicted:
    return megabytes(row.predicted);
  case real:
    return megabytes(row.real);
  default:
    break;
  }
  switch (row.result) {
  case ProbeRow::Result::fits:
    return tr("fits");
  case ProbeRow::Result::out_of_memory:
    return tr("OOM");
  case ProbeRow::Result::failed:
    return tr("failed");
  case ProbeRow::Result::not_run:
    break;
  }
  return tr("not run");
}

QVariant ProbeModel::foreground(const ProbeRow& row, int column) const {
  if (column == number || (column == predicted && !row.predicted) || (column == real && !row.real))
    return theme_.color(Role::dimmed);
  if (column != result)
    return {};
  switch (row.result) {
  case ProbeRow::Result::fits:
    return theme_.color(Role::good);
  case ProbeRow::Result::not_run:
    return theme_.color(Role::warning);
  default:
    return theme_.color(Role::error);
  }
}

QString ProbeModel::tip(const ProbeRow& row) const {
  if (!row.message.isEmpty())
    return row.message;
  if (row.result == ProbeRow::Result::not_run)
    return tr("Not run: the predicted memory is above the budget");
  if (row.check)
    return tr("Run after the search to verify the safe size");
  return {};
}

QVariant ProbeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount())
    return {};
  const ProbeRow& row = rows_[static_cast<std::size_t>(index.row())];
  switch (role) {
  case Qt::DisplayRole:
    return text(row, index.column());
  case Qt::TextAlignmentRole:
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter | (index.column() == result ? Qt::AlignLeft : Qt::AlignRight)));
  case Qt::ForegroundRole:
    return foreground(row, index.column());
  case Qt::ToolTipRole:
    return tip(row);
  default:
    return {};
  }
}

QVariant ProbeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal)
    return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | (section == result ? Qt::AlignLeft : Qt::AlignRight)));
  if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole) // the columns have no space for these
    return section == predicted ? tr("Predicted MB") : section == real ? tr("Measured MB") : QVariant();
  if (role != Qt::DisplayRole)
    return {};
  switch (section) {
  case number:
    return tr("#");
  case batch:
    return tr("Batch");
  case predicted:
    return tr("Pred. MB");
  case real:
    return tr("Meas. MB");
  default:
    return tr("Result");
  }
}

} // namespace batchscope::ui

#include "moc_probe_model.cpp"
