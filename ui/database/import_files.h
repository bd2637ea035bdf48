#pragma once

#include <QString>
#include <QStringList>

#include <functional>
#include <vector>

#include "core/exchange/import.h"

namespace batchscope::ui {

/// A file or folder that may be imported: what was recognized in it.
struct ImportFile {
  QString path;
  QString format; ///< title of its importer; empty if none accepts it
  std::vector<exchange::ImportColumn> columns;
  exchange::ImportedRuns runs;
  QString error; ///< one line; empty if it was read
};

/// Reads files, off the UI thread. `told` is called before each with its index; it returns false to end the reading.
std::vector<ImportFile> read_import_files(const QStringList& paths, const exchange::ImportOptions& options,
                                          const std::function<bool(qsizetype)>& told);

} // namespace batchscope::ui
