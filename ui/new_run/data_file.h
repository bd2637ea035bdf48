#pragma once

#include <QString>
#include <QStringList>

#include <optional>

namespace batchscope::ui {

/// Kinds of data that are read from files.
enum class DataKind { idx, text, lines, csv };

/// What a data field's text reads from; nothing where it names no file.
std::optional<DataKind> data_kind(const QString& text);

/// The text of a data field for a file that was chosen; without `wanted` its name tells the kind. Of a table the last
/// column is taken as the target, and labels are looked for beside their images. Reads the first lines at most.
struct DataText {
  QString text;
  QString problem; ///< what is left to say or to choose; empty when nothing is
};
DataText data_text(const QString& file, std::optional<DataKind> wanted);

/// For a file dialog.
QStringList name_filters(std::optional<DataKind> kind);

} // namespace batchscope::ui
