#include "ui/new_run/data_file.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/open_database.h"
#include "core/data/csv_text.h"
#include "core/data/zip_file.h"

namespace batchscope::ui {

namespace {

QString translated(const char* text) {
  return QCoreApplication::translate("DataFile", text);
}

DataKind kind_by_name(const QString& file) {
  const QString name = QFileInfo(file).fileName().toLower();
  const std::pair<const char*, DataKind> endings[] = {{".csv", DataKind::csv},    {".npy", DataKind::npy},
                                                      {".npz", DataKind::npz},    {".png", DataKind::images},
                                                      {".jpg", DataKind::images}, {".jpeg", DataKind::images}};
  for (const auto& [ending, kind] : endings)
    if (name.endsWith(QLatin1String(ending)))
      return kind;
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

/// What arrays of inputs and those of their targets are often called.
const std::vector<std::pair<QString, QString>>& array_names() {
  static const std::vector<std::pair<QString, QString>> names = {
      {"inputs", "targets"}, {"images", "labels"}, {"features", "labels"}, {"data", "labels"}, {"x", "y"}, {"X", "y"}};
  return names;
}

/// Of all names that are known to `exists`, the targets of an array; empty if there are none.
template <typename Exists> QString targets_of(const QString& inputs, const Exists& exists) {
  for (const auto& [input, target] : array_names()) {
    QString name = inputs;
    if (name.startsWith(input) && exists(name.replace(0, input.size(), target)))
      return name;
  }
  return {};
}

DataText npy_text(const QString& file) {
  const QFileInfo inputs(file);
  const QString targets = targets_of(inputs.fileName(), [&](const QString& name) { return inputs.dir().exists(name); });
  if (targets.isEmpty())
    return {QStringLiteral("npy:%1,").arg(file),
            translated(QT_TRANSLATE_NOOP("DataFile", "Enter the file of inputs, a comma and the file of targets"))};
  return {QStringLiteral("npy:%1,%2").arg(file, inputs.dir().filePath(targets)), {}};
}

DataText npz_text(const QString& file) {
  const QString text = QStringLiteral("npz:%1").arg(file);
  QStringList arrays;
  try {
    const data::ZipFile archive(file.toStdString());
    for (const auto& [name, entry] : archive.entries())
      arrays += QString::fromStdString(name).section(QLatin1String(".npy"), 0, 0);
  } catch (const Error& error) {
    return {text, QString::fromUtf8(error.what())};
  }
  if (arrays.contains(QLatin1String("x")) && arrays.contains(QLatin1String("y")))
    return {text, {}};
  for (const QString& inputs : arrays) {
    const QString targets = targets_of(inputs, [&](const QString& name) { return arrays.contains(name); });
    if (!targets.isEmpty())
      return {QStringLiteral("%1,inputs=%2,targets=%3").arg(text, inputs, targets), {}};
  }
  return {text + QStringLiteral(",inputs="),
          translated(QT_TRANSLATE_NOOP("DataFile", "Enter the array of inputs, and ,targets= with that of targets: %1"))
              .arg(arrays.join(QLatin1String(", ")))};
}

/// For one image in the folder of its class.
DataText images_text(const QString& file) {
  QDir classes = QFileInfo(file).dir();
  classes.cdUp();
  const auto count = classes.entryList(QDir::Dirs | QDir::NoDotAndDotDot).size();
  return {QStringLiteral("images:%1").arg(classes.path()),
          count > 1 ? QString()
                    : translated(QT_TRANSLATE_NOOP("DataFile", "One folder of images for each class is needed"))};
}

} // namespace

std::optional<DataKind> data_kind(const QString& text) {
  const QString kind = text.trimmed().section(u':', 0, 0);
  const std::pair<const char*, DataKind> known[] = {
      {"idx", DataKind::idx}, {"text", DataKind::text}, {"lines", DataKind::lines},  {"csv", DataKind::csv},
      {"npy", DataKind::npy}, {"npz", DataKind::npz},   {"images", DataKind::images}};
  for (const auto& [name, each] : known)
    if (kind == QLatin1String(name))
      return each;
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
  case DataKind::npy:
    result = npy_text(file);
    break;
  case DataKind::npz:
    result = npz_text(file);
    break;
  case DataKind::images:
    result = images_text(file);
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
  const QString arrays = translated(QT_TRANSLATE_NOOP("DataFile", "NumPy arrays (*.npy *.npz)"));
  const QString pictures =
      translated(QT_TRANSLATE_NOOP("DataFile", "Images, in one folder for each class (*.png *.jpg *.jpeg)"));
  QStringList filters{all, tables, texts, images, arrays, pictures};
  const auto filter_of = [](DataKind each) {
    switch (each) {
    case DataKind::csv:
      return 1;
    case DataKind::idx:
      return 3;
    case DataKind::npy:
    case DataKind::npz:
      return 4;
    case DataKind::images:
      return 5;
    case DataKind::text:
    case DataKind::lines:
      break;
    }
    return 2;
  };
  if (kind)
    filters.prepend(filters.takeAt(filter_of(*kind)));
  return filters;
}

} // namespace batchscope::ui
