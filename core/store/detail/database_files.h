#pragma once

#include <filesystem>

#include <sys/types.h>

namespace batchscope::store::detail {

/// What a name stands for at a moment: a device and a number on it. Zeros: nothing is there.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

/// `.` where the name has no folder.
std::filesystem::path folder_of(const std::filesystem::path& file);

FileIdentity identity_of(const std::filesystem::path& file);

/// The three files of a database in WAL mode: FILE, FILE-wal and FILE-shm.
struct DatabaseFiles {
  FileIdentity database, log, index;
};

std::filesystem::path log_of(const std::filesystem::path& database);
std::filesystem::path index_of(const std::filesystem::path& database);

/// Opens none of them.
DatabaseFiles files_of(const std::filesystem::path& database);

/// Whether `now` has another file, or none, where `opened` had one. A file that came since does not count: without a
/// WAL there are none, until another program makes one.
bool is_replaced(const DatabaseFiles& opened, const DatabaseFiles& now);

} // namespace batchscope::store::detail
