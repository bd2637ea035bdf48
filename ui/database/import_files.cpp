#include "ui/database/import_files.h"

#include <filesystem>

namespace batchscope::ui {

namespace {

ImportFile read_import_file(const QString& path, const exchange::ImportOptions& options) {
  ImportFile file{.path = path, .format = {}, .columns = {}, .runs = {}, .error = {}};
  try {
    const std::filesystem::path name = path.toStdString();
    const auto importer = exchange::importer_of(name);
    file.format = QString::fromStdString(importer->title());
    file.columns = importer->columns(name);
    file.runs = exchange::read_runs_of(name, options);
  } catch (const std::exception& error) {
    file.error = QString::fromUtf8(error.what());
  }
  return file;
}

} // namespace

std::vector<ImportFile> read_import_files(const QStringList& paths, const exchange::ImportOptions& options,
                                          const std::function<bool(qsizetype)>& told) {
  std::vector<ImportFile> files;
  for (qsizetype i = 0; i < paths.size() && told(i); ++i)
    files.push_back(read_import_file(paths[i], options));
  return files;
}

} // namespace batchscope::ui
