#include "ui/advice/size_model.h"

namespace batchscope::ui {

namespace {

QString range_text(const std::optional<advice::Range>& range) {
  return range ? QString::fromStdString(range->text()).replace('-', QStringLiteral("–")) : QStringLiteral("–");
}

QString effective_text(const advice::SizeRow& row) {
  QString text = range_text(row.effective_batch);
  if (row.ranks)
    text += SizeModel::tr(" on %1 GPUs").arg(*row.ranks);
  return text;
}

QString why_text(const advice::SizeRow& row) {
  return QString::fromStdString(row.why);
}

QString tip_of(const advice::SizeRow& row) {
  QStringList lines;
  if (row.least)
    lines += SizeModel::tr("Useful from %1 to %2").arg(*row.least).arg(row.most.value_or(*row.least));
  if (!row.command.empty())
    lines += QString::fromStdString(row.command);
  return lines.join('\n').toHtmlEscaped().replace('\n', QStringLiteral("<br>"));
}

} // namespace

void SizeModel::set_rows(std::vector<advice::SizeRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int SizeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SizeModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QVariant SizeModel::data(const QModelIndex& index, int role) const {
  const advice::SizeRow& row = this->row(index.row());
  const bool number = index.column() <= effective_column;
  if (role == Qt::TextAlignmentRole)
    return int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole)
    return tip_of(row);
  if (role != Qt::DisplayRole)
    return {};
  switch (index.column()) {
  case micro_column:
    return range_text(row.micro_batch);
  case accumulate_column:
    return range_text(row.accumulate);
  case effective_column:
    return effective_text(row);
  case why_column:
    return why_text(row);
  default:
    return QString::fromStdString(row.source);
  }
}

QVariant SizeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal)
    return {};
  if (role == Qt::TextAlignmentRole)
    return int((section <= effective_column ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole)
    return {};
  const QStringList titles{tr("Micro batch"), tr("Accumulation"), tr("Effective"), tr("Why"), tr("Source")};
  return titles.value(section);
}

} // namespace batchscope::ui

#include "moc_size_model.cpp"
