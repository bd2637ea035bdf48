#include "ui/advice/table_model.h"

#include <algorithm>

#include "ui/widgets/text_table.h"

namespace batchscope::ui {

void TableModel::read(const QString& name) {
  const advice::Table table = advice::read_table(name.toStdString());
  std::vector<std::string> shown = table.titles;
  std::erase_if(shown, [](const std::string& title) { // parts of the source
    return title == "section" || title == "address" || title == "key";
  });
  QStringList titles;
  for (const std::string& title : shown)
    titles += QString::fromStdString(title);
  QList<Row> rows;
  for (const advice::TableRow& row : table.rows) {
    Row& added = rows.emplace_back();
    for (const std::string& title : shown) {
      std::string text = row.at(title);
      if (title == "source" && !text.empty()) {
        text = advice::cite(text, row.at("section"));
        added.address = QUrl(QString::fromStdString(advice::address_of(text)));
      }
      added.cells += QString::fromStdString(text);
    }
    if (const auto address = row.find("address"); address != row.end())
      added.address = QUrl(QString::fromStdString(address->second));
  }
  beginResetModel();
  titles_ = titles;
  rows_ = rows;
  source_ = static_cast<int>(std::max(titles.indexOf("source"), titles.indexOf("title")));
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(titles_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  const Row& row = rows_[index.row()];
  if (role == Qt::DisplayRole)
    return row.cells[index.column()];
  if (role == address_role && index.column() == source_ && !row.address.isEmpty())
    return row.address;
  if (role == Qt::AccessibleDescriptionRole && index.column() == source_ && !row.address.isEmpty())
    return row.address.toString();
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
