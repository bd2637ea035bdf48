#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/exchange/import.h"
#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"

namespace batchscope::ui {

/// A file or folder that may be imported: what was recognized in it.
struct ImportFile {
  QString path;
  QString format; ///< name of its importer; empty if none accepts it
  std::vector<exchange::ImportColumn> columns;
  exchange::ImportedRuns runs;
  QString error; ///< one line; empty if it was read
};

/// Imports runs that were made elsewhere into a database, in two steps, on a thread of its own. UI thread.
class RunImports {
public:
  /// `stored` is called once runs were stored, on any thread.
  RunImports(std::filesystem::path database, std::function<void()> stored)
      : database_(std::move(database)), stored_(std::move(stored)) {}

  using Files = std::shared_ptr<const std::vector<ImportFile>>;
  /// Reads files. A reading whose `wanted` has expired ends early and calls nothing. `progress` is called before each
  /// file with its index.
  void read(const QStringList& paths, const exchange::ImportOptions& options, std::weak_ptr<void> wanted,
            std::function<void(qsizetype)> progress, std::function<void(Files)> done);
  /// Stores what was read. Calls `done` with an error, or an empty text, unless `context` is gone.
  void store(Files files, QObject* context,
             std::function<void(const exchange::ImportResult&, const QString& error)> done);

private:
  const std::filesystem::path database_;
  const std::function<void()> stored_;
  UiQueue results_;
  WorkerThread worker_; ///< last: it uses all of the above
};

} // namespace batchscope::ui
