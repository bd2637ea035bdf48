#include "ui/advice/table_model.h"

namespace batchscope::ui {

void TableModel::read(const QString& name) {
  const advice::Table table = advice::read_table(name.toStdString());
  QStringList titles;
  QList<QStringList> rows;
  for (const advice::TableRow& row : table.rows) {
    QStringList cells;
    for (const std::string& title : table.titles) {
      if (title == "section") // a part of the source
        continue;
      const bool cited = title == "source" && !row.at(title).empty();
      cells += QString::fromStdString(cited ? advice::cite(row.at(title), row.at("section")) : row.at(title));
    }
    rows += cells;
  }
  for (const std::string& title : table.titles)
    if (title != "section")
      titles += QString::fromStdString(title);
  beginResetModel();
  titles_ = titles;
  rows_ = rows;
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(titles_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  const QString& text = rows_[index.row()][index.column()];
  if (role == Qt::DisplayRole)
    return text;
  if (role == Qt::ToolTipRole)
    return QStringLiteral("<span>%1</span>").arg(text.toHtmlEscaped()); // which wraps
  return {};
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal)
    return {};
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignLeft | Qt::AlignVCenter);
  if (role != Qt::DisplayRole)
    return {};
  const QString title = titles_.value(section);
  return title.isEmpty() ? title : QString(title.front().toUpper() + title.mid(1));
}

} // namespace batchscope::ui

#include "moc_table_model.cpp"
