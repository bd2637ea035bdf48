#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/store/detail/connection.h"
#include "core/store/detail/database_files.h"
#include "core/store/detail/system_calls.h"

namespace batchscope::store::detail {

/// All connections of this process to the database of one name. They must have the same files open, because SQLite
/// shares the WAL's index between all connections of a process to a file: a connection that is opened on a new WAL
/// while an older one lives would read it by the index of the removed one.
///
/// Thread-safe. Locks are taken in this order: mutex_, those of connections, files_mutex_.
class OpenDatabase {
public:
  /// The one of `file`, for as long as somebody holds it.
  static std::shared_ptr<OpenDatabase> of(const std::filesystem::path& file);

  explicit OpenDatabase(const std::filesystem::path& file) : file_(file), opened_(file) {}

  void add(Connection& connection);
  void remove(Connection& connection);
  /// Opens `connection` where it is not open, after the files' replacement was dealt with.
  void make_ready(Connection& connection);
  /// Whether the names stand for other files than the open connections have. Where the database is gone and nothing
  /// here writes to it, the answer is no: reading on is all that can be done until it is put back.
  bool replaced() const;
  std::string notice() const;

private:
  bool any_open() const;
  bool is_open(Connection& connection); ///< opens it
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
  std::atomic<int> writers_{0}; ///< open connections that write
  std::mutex mutex_;
  std::vector<Connection*> connections_;     ///< guarded by mutex_
  std::vector<std::filesystem::path> saved_; ///< guarded by mutex_; copies not written into the files yet
  mutable std::mutex files_mutex_;
  std::optional<DatabaseFiles> files_; ///< guarded by files_mutex_; what the open connections have open
  std::string notice_;                 ///< guarded by files_mutex_
};

/// Has the connection close without moving anything from its WAL into the database or removing a file.
void close_without_checkpoint(SQLite::Database& database);

} // namespace batchscope::store::detail
