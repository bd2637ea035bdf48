#pragma once

#include <filesystem>

#include <sys/types.h>

namespace batchscope::store::detail {

/// The file at a path at one moment: device and inode. Zeros: no file.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const std::filesystem::path& file);

/// The three files of a database in WAL mode: FILE, FILE-wal and FILE-shm.
struct DatabaseFiles {
  FileIdentity database, log, index;
};

std::filesystem::path log_of(const std::filesystem::path& database);
std::filesystem::path index_of(const std::filesystem::path& database);

/// Opens none of the files.
DatabaseFiles files_of(const std::filesystem::path& database);

/// Whether `now` has another file, or none, where `opened` had one. A new file does not count: without a WAL there is
/// none until another program creates one.
bool is_replaced(const DatabaseFiles& opened, const DatabaseFiles& now);

} // namespace batchscope::store::detail
