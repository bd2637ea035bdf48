#pragma once

#include <filesystem>

#include "core/store/file/detail/database_files.h"

namespace batchscope::store::detail {

/// Replaces three entries of SQLite's table of system calls (sqlite3_vfs::xSetSystemCall), for all connections of this
/// process.
///
/// fcntl and close: makes SQLite's file locks belong to open file descriptions (F_OFD_SETLK of fcntl(2)). The POSIX
/// record locks that SQLite uses belong to the process: if any code of the process closes any descriptor of a locked
/// file (a file dialog that detects file types, for example), all its locks are dropped. Another process that closes
/// the database then takes itself for the last one and removes the WAL that this process still writes. Locks of an open
/// file description are dropped with that description, and still exclude POSIX locks of other processes.
///
/// open: records which files were really opened, see OpenedFiles.
///
/// Call it before opening the first connection; later calls do nothing. Any thread.
void replace_system_calls();

/// Records, while it lives, which files SQLite opened as a database, its WAL and its index. Looking at the paths
/// afterwards would be too late: another program may have removed or replaced the files in between.
class OpenedFiles {
public:
  /// `database` as SQLite names it: absolute, without symbolic links.
  explicit OpenedFiles(std::filesystem::path database);
  ~OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;

  /// The files opened last. Any thread.
  DatabaseFiles get() const;
  /// Forgets the files.
  void reset();

private:
  const std::filesystem::path database_;
};

} // namespace batchscope::store::detail
