#pragma once

#include <QString>
#include <QStringList>

#include <optional>

namespace batchscope::ui {

/// Kinds of data that are read from files.
enum class DataKind { idx, text, lines, csv, npy, npz, images };

/// The kind of file that a data field's text reads; nothing if it names no file.
std::optional<DataKind> data_kind(const QString& text);

/// The text of a data field for a file that the user chose; without `wanted`, the file's name decides the kind. The
/// last column of a table becomes the target; labels are searched for beside their images, and targets beside the other
/// array of NumPy; an image stands for the folder with the folders of all classes. Reads only the first lines.
struct DataText {
  QString text;
  QString problem; ///< what the user still has to enter or choose; empty if nothing
};
DataText data_text(const QString& file, std::optional<DataKind> wanted);

/// Name filters for a file dialog.
QStringList name_filters(std::optional<DataKind> kind);

} // namespace batchscope::ui
