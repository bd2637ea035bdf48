#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/database_files.h"

namespace batchscope::store::detail {

class OpenDatabase;

/// A connection to a run database that survives the replacement of the database's files: a WAL that was removed under
/// it, a file that was moved away or written over by a copy.
///
/// SQLite goes on with the files that it has open, so what it commits then reaches nobody else, and what it moves from
/// its WAL into the database overwrites newer pages there. So before each use the files behind the names are compared
/// with those that are open. Where they differ, all connections of this process to that database are closed without
/// touching the files, and what only they could read is written into the files that are there now, see salvage.h.
///
/// Thread-safe: one thread at a time has the use of it, the others wait.
class Connection {
public:
  enum class Access { read, write };

  /// Opens the database at once with `open`, which is called again after a replacement. `on_drop` is called, in any
  /// thread and while nobody has the use of it, before the connection is closed for a replacement: whatever was
  /// prepared on it must be destroyed.
  Connection(
      const std::filesystem::path& file, Access access, std::function<SQLite::Database()> open,
      std::function<void()> on_drop = [] {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Closes it for good, before what `on_drop` refers to is gone; nothing else is called any more. What only this
  /// process still reads is saved first.
  void close();

  /// The use of the connection by one thread, for as long as it lives. The thread that has it may take it again.
  class Use {
  public:
    ~Use();
    Use(Use&&) noexcept = default; ///< the one that is moved from must not be used
    Use& operator=(Use&&) = delete;
    SQLite::Database& operator*() const { return *connection_->database_; }
    SQLite::Database* operator->() const { return &*connection_->database_; }

  private:
    friend class Connection;
    Use(Connection& connection, std::unique_lock<std::recursive_mutex> lock);

    Connection* connection_;
    std::unique_lock<std::recursive_mutex> lock_;
  };

  /// Throws what `open` throws, and TransientError where the files were replaced and what only the old ones hold cannot
  /// be saved now; it is tried again by the next call.
  Use use();
  /// Whether a transaction that is committed now would reach nobody. Only in a use.
  bool replaced() const;
  /// Rises with every reopening. Only in a use.
  std::int64_t generation() const { return generation_; }
  /// What was done about the last replacement, for a person; empty where there was none.
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
