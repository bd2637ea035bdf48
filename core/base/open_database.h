#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

namespace batchscope {

/// Whether `file`, under any name, is a SQLite database that this process has open, or its WAL or shared-memory index.
/// Only SQLite may open such a file: it is not data, and on kernels without open file description locks
/// (core/store/file/detail/system_calls.h), closing any descriptor of it drops all locks of the process on it. The next
/// process that closes the database then treats itself as the last user and removes the WAL that this process is still
/// writing. Opens nothing but /proc. Any thread.
bool is_open_database(const std::filesystem::path& file);

/// The same for many files: looks once at what is open. Immutable; any thread.
class OpenDatabases {
public:
  OpenDatabases();
  bool include(const std::filesystem::path& file) const;

private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> files_; ///< device and number of each
};

/// Call it before reading, replacing or removing a file that the user named. Throws Error (input) if
/// is_open_database().
void refuse_open_database(const std::filesystem::path& file);

} // namespace batchscope
