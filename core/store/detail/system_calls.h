#pragma once

#include <filesystem>

#include "core/store/detail/database_files.h"

namespace batchscope::store::detail {

/// Puts three calls of our own into SQLite's table of system calls (sqlite3_vfs::xSetSystemCall), for all connections
/// of this process.
///
/// fcntl and close: SQLite's file locks then belong to open file descriptions (F_OFD_SETLK of fcntl(2)). POSIX record
/// locks, which SQLite uses, belong to the process: closing any descriptor of a locked file, by any code of the process
/// (a file dialog that guesses types, say), drops all of them. Another process that closes the database then takes
/// itself for the last one and removes the WAL that this process still writes. Locks of an open file description go
/// when that description goes, and exclude POSIX locks of other processes as before.
///
/// open: keeps which files were really opened, see opened_files().
///
/// Call it before the first connection is opened; every call after the first does nothing. Any thread.
void replace_system_calls();

/// From construction to destruction, keeps which files SQLite opened as a database and its two others. Asking for the
/// names afterwards would be too late: another program may have removed or replaced them in between.
class OpenedFiles {
public:
  /// `database` as SQLite names it: absolute, without symbolic links.
  explicit OpenedFiles(std::filesystem::path database);
  ~OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;

  /// The ones opened last. Any thread.
  DatabaseFiles get() const;
  /// As if none had been opened.
  void reset();

private:
  const std::filesystem::path database_;
};

} // namespace batchscope::store::detail
