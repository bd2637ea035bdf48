#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/database_files.h"

namespace batchscope::store::detail {

class OpenDatabase;

/// A connection to a run database that survives the replacement of the database's files: a WAL that was removed, or a
/// database file that was moved away or overwritten by a copy.
///
/// SQLite keeps using the files that it has open. After a replacement, nobody else sees what it commits, and its
/// checkpoints overwrite newer pages. Therefore each use first compares the files at the database's paths with the open
/// ones. If they differ, all connections of this process to the database are closed without touching the files, and
/// data that only they could read are written into the files that are there now, see salvage.h.
///
/// Thread-safe: one thread at a time uses the connection, others wait.
class Connection {
public:
  enum class Access { read, write };

  /// Opens the database immediately with `open`, which is called again after a replacement. `on_drop` is called on any
  /// thread, while nobody uses the connection, before it is closed for a replacement: it must destroy everything that
  /// was prepared on the connection.
  Connection(
      const std::filesystem::path& file, Access access, std::function<SQLite::Database()> open,
      std::function<void()> on_drop = [] {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Closes it for good; call it before anything that `on_drop` refers to is destroyed, and call nothing else
  /// afterwards. First saves data that only this process can still read.
  void close();

  /// Exclusive use of the connection by one thread while this object lives. The thread may nest uses.
  class Use {
  public:
    ~Use();
    Use(Use&&) noexcept = default; ///< a moved-from Use must not be used
    Use& operator=(Use&&) = delete;
    SQLite::Database& operator*() const { return *connection_->database_; }
    SQLite::Database* operator->() const { return &*connection_->database_; }

  private:
    friend class Connection;
    Use(Connection& connection, std::unique_lock<std::recursive_mutex> lock);

    Connection* connection_;
    std::unique_lock<std::recursive_mutex> lock_;
  };

  /// Throws what `open` throws, and TransientError if the files were replaced and data that only the old ones hold
  /// cannot be saved now; the next call retries.
  Use use();
  /// Whether a transaction committed now would be lost, because the files were replaced. Call it only during a use.
  bool replaced() const;
  /// Increases with every reopening. Call it only during a use.
  std::int64_t generation() const { return generation_; }
  /// Notice for the user of how the last replacement was handled; empty if there was none.
  std::string notice() const;

private:
  friend class OpenDatabase;

  const Access access_;
  const std::function<SQLite::Database()> open_;
  std::function<void()> on_drop_;
  const std::shared_ptr<OpenDatabase> shared_;

  std::recursive_mutex mutex_;
  int uses_ = 0;                             ///< guarded by mutex_, as all below
  std::optional<SQLite::Database> database_; ///< none after a replacement, until the next use
  std::int64_t generation_ = 0;
};

} // namespace batchscope::store::detail
