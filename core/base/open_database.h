#pragma once

#include <filesystem>

namespace batchscope {

/// Whether `file`, by whatever name, is a SQLite database that this process has open, or the log or the index beside
/// one. Such a file must be opened by SQLite alone: it is no data, and where the kernel has no locks of open file
/// descriptions (core/store/detail/system_calls.h), closing any descriptor of it drops all locks of the process on it;
/// the next process that is done with the database takes itself for its last user and removes the log that this one
/// still writes. Opens nothing but /proc. Any thread.
bool is_open_database(const std::filesystem::path& file);

/// Before a file that a user named is read, replaced or removed: throws Error (input) where is_open_database().
void refuse_open_database(const std::filesystem::path& file);

} // namespace batchscope
