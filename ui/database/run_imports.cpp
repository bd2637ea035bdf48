#include "ui/database/run_imports.h"

#include <QPointer>

#include <utility>

#include "core/store/run_store.h"

namespace batchscope::ui {

namespace {

ImportFile read_import_file(const QString& path, const exchange::ImportOptions& options) {
  ImportFile file{.path = path, .format = {}, .columns = {}, .runs = {}, .error = {}};
  try {
    const std::filesystem::path name = path.toStdString();
    const auto importer = exchange::importer_of(name);
    file.format = QString::fromStdString(importer->name());
    file.columns = importer->columns(name);
    file.runs = exchange::read_runs_of(name, options);
  } catch (const std::exception& error) {
    file.error = QString::fromUtf8(error.what());
  }
  return file;
}

} // namespace

void RunImports::read(const QStringList& paths, const exchange::ImportOptions& options, std::weak_ptr<void> wanted,
                      std::function<void(qsizetype)> progress, std::function<void(Files)> done) {
  const auto tell = [this, wanted](std::function<void()> function) {
    results_.post([wanted, function = std::move(function)] {
      if (!wanted.expired())
        function();
    });
  };
  worker_.post([paths, options, wanted, tell, progress = std::move(progress), done = std::move(done)] {
    auto files = std::make_shared<std::vector<ImportFile>>();
    for (qsizetype i = 0; i < paths.size() && !wanted.expired(); ++i) {
      tell([progress, i] { progress(i); });
      files->push_back(read_import_file(paths[i], options));
    }
    tell([done, files] { done(files); });
  });
}

void RunImports::store(Files files, QObject* context,
                       std::function<void(const exchange::ImportResult&, const QString& error)> done) {
  worker_.post([this, files = std::move(files), context = QPointer(context), done = std::move(done)] {
    exchange::ImportedRuns all;
    for (const ImportFile& file : *files)
      all.add(file.runs);
    exchange::ImportResult result;
    QString problem;
    try {
      store::RunStore store(database_);
      result = exchange::store_runs(all, store);
    } catch (const std::exception& error) {
      problem = QString::fromUtf8(error.what());
    }
    stored_();
    results_.post([context, done, result, problem] {
      if (context)
        done(result, problem);
    });
  });
}

} // namespace batchscope::ui
