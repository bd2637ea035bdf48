#include "ui/new_run/data_file.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/open_database.h"
#include "core/data/csv_text.h"

namespace batchscope::ui {

namespace {

QString translated(const char* text) {
  return QCoreApplication::translate("DataFile", text);
}

DataKind kind_by_name(const QString& file) {
  const QString name = QFileInfo(file).fileName().toLower();
  if (name.endsWith(QLatin1String(".csv")))
    return DataKind::csv;
  if (name.contains(QLatin1String("idx3")) || name.contains(QLatin1String("idx1")) ||
      name.contains(QLatin1String("ubyte")))
    return DataKind::idx;
  return DataKind::text;
}

using CsvRow = std::vector<std::string>;

/// The first two rows of a table, or fewer if it has fewer; none if a line is too long for a table.
std::vector<CsvRow> first_rows(const QString& path) {
  constexpr qint64 longest_line = 64 * 1024;
  QFile file(path);
  if (is_open_database(path.toStdString()) || !file.open(QIODevice::ReadOnly))
    return {};
  const QByteArray first = file.readLine(longest_line);
  if (!first.endsWith('\n') && !file.atEnd())
    return {};
  const std::string lines = first.toStdString() + file.readLine(longest_line).toStdString();
  std::vector<CsvRow> rows;
  try {
    data::CsvText text(lines, path.toStdString());
    for (CsvRow fields; rows.size() < 2 && text.next(fields);)
      rows.push_back(fields);
  } catch (const Error&) {
    // The engine reports it, with the line.
  }
  return rows;
}

bool is_number(const std::string& field) {
  bool good = false;
  QString::fromStdString(field).trimmed().toDouble(&good);
  return good;
}

/// Whether the first row holds values like the second, not column names: all columns but the last, which may be a
/// class, are numbers, and the last has the same kind in both rows.
bool has_no_names(const std::vector<CsvRow>& rows) {
  const CsvRow& first = rows.front();
  return std::all_of(first.begin(), first.end() - 1, is_number) && !rows.back().empty() &&
         is_number(first.back()) == is_number(rows.back().back());
}

/// The names of an image file and its label file differ in these parts.
QString labels_beside(const QString& images) {
  const QFileInfo info(images);
  QString name = info.fileName();
  name.replace(QLatin1String("images"), QLatin1String("labels")).replace(QLatin1String("idx3"), QLatin1String("idx1"));
  const QFileInfo labels(info.dir(), name);
  return name != info.fileName() && labels.exists() ? labels.filePath() : QString();
}

DataText csv_text(const QString& file) {
  const std::vector<CsvRow> rows = first_rows(file);
  if (rows.empty() || rows.front().back().empty())
    return {QStringLiteral("csv:%1,target=").arg(file),
            translated(QT_TRANSLATE_NOOP("DataFile", "Enter the column to predict after target="))};
  if (has_no_names(rows))
    return {QStringLiteral("csv:%1,header=no,target=%2").arg(file).arg(rows.front().size()), {}};
  return {QStringLiteral("csv:%1,target=%2").arg(file, QString::fromStdString(rows.front().back())), {}};
}

DataText idx_text(const QString& file) {
  const bool is_labels = QFileInfo(file).fileName().contains(QLatin1String("labels"));
  const QString labels = labels_beside(file);
  if (is_labels || labels.isEmpty())
    return {QStringLiteral("idx:%1,").arg(file),
            translated(QT_TRANSLATE_NOOP("DataFile", "Enter the file of images, a comma and the file of labels"))};
  return {QStringLiteral("idx:%1,%2").arg(file, labels), {}};
}

} // namespace

std::optional<DataKind> data_kind(const QString& text) {
  const QString kind = text.trimmed().section(u':', 0, 0);
  if (kind == QLatin1String("idx"))
    return DataKind::idx;
  if (kind == QLatin1String("text"))
    return DataKind::text;
  if (kind == QLatin1String("lines"))
    return DataKind::lines;
  if (kind == QLatin1String("csv"))
    return DataKind::csv;
  return std::nullopt;
}

DataText data_text(const QString& file, std::optional<DataKind> wanted) {
  DataText result;
  // A text file may be one stream, or one example per line; other kinds are recognized by their names.
  const DataKind guessed = kind_by_name(file);
  switch (guessed == DataKind::text ? wanted.value_or(guessed) : guessed) {
  case DataKind::csv:
    result = csv_text(file);
    break;
  case DataKind::idx:
    result = idx_text(file);
    break;
  case DataKind::lines:
    result.text = QStringLiteral("lines:%1").arg(file);
    break;
  case DataKind::text:
    result.text = QStringLiteral("text:%1").arg(file);
    break;
  }
  if (file.contains(u','))
    result.problem = translated(QT_TRANSLATE_NOOP("DataFile", "File names with a comma are not supported here"));
  return result;
}

QStringList name_filters(std::optional<DataKind> kind) {
  const QString all = translated(QT_TRANSLATE_NOOP("DataFile", "All files (*)"));
  const QString tables = translated(QT_TRANSLATE_NOOP("DataFile", "CSV files (*.csv)"));
  const QString texts = translated(QT_TRANSLATE_NOOP("DataFile", "Text files (*.txt *.md)"));
  const QString images = translated(QT_TRANSLATE_NOOP("DataFile", "IDX images (*idx3* *ubyte* *ubyte.gz)"));
  QStringList filters{all, tables, texts, images};
  if (kind)
    filters.prepend(filters.takeAt(*kind == DataKind::csv ? 1 : *kind == DataKind::idx ? 3 : 2));
  return filters;
}

} // namespace batchscope::ui
