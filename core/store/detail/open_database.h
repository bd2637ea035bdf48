#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/store/detail/connection.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/system_calls.h"

namespace batchscope::store::detail {

/// All connections of this process to the database at one path. They must have the same files open: SQLite shares the
/// WAL index among all connections of a process to a file, so a connection opened on a new WAL while an older
/// connection lives would read it with the index of the removed WAL.
///
/// Thread-safe. Lock order: mutex_, those of connections, files_mutex_.
class OpenDatabase {
public:
  /// The shared object for `file`; it lives as long as anyone holds it.
  static std::shared_ptr<OpenDatabase> of(const std::filesystem::path& file);

  explicit OpenDatabase(const std::filesystem::path& file) : file_(file), opened_(file) {}

  void add(Connection& connection);
  void remove(Connection& connection);
  /// Opens `connection` if it is closed, after handling a replacement of the files.
  void make_ready(Connection& connection);
  /// Whether the paths now lead to other files than the open connections have. False if the database is gone and
  /// nothing here writes to it: connections can only read on until it is put back.
  bool replaced() const;
  std::string notice() const;

private:
  bool any_open() const;
  bool is_open(Connection& connection); ///< and opens it
  void close(Connection& connection);
  void exchange();
  void save_old_view();
  void put_log_aside();
  void write_saved_views();
  void write_saved(const std::filesystem::path& saved);
  void drop_all();
  void forget_files();
  void say(const std::string& notice);

  const std::filesystem::path file_;
  OpenedFiles opened_;
  std::atomic<int> writers_{0}; ///< number of open connections that write
  std::mutex mutex_;
  std::vector<Connection*> connections_;     ///< guarded by mutex_
  std::vector<std::filesystem::path> saved_; ///< guarded by mutex_; copies not yet written into the files
  mutable std::mutex files_mutex_;
  std::optional<DatabaseFiles> files_; ///< guarded by files_mutex_; the open connections' files
  std::string notice_;                 ///< guarded by files_mutex_
};

/// Makes the connection close without a checkpoint and without removing files.
void close_without_checkpoint(SQLite::Database& database);

} // namespace batchscope::store::detail
