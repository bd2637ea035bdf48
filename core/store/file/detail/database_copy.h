#pragma once

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// `first`, or `first-2`, `first-3` and so on: the first name that no file has, nor a log of one, which would be taken
/// for the new file's. What is there may be the only copy of something and is never overwritten.
std::filesystem::path free_name(const std::filesystem::path& first);

/// Writes what the connection reads to a file, without free pages: to a temporary name beside it first, so that
/// `target` is complete and on the disk, or as it was. Others may go on writing. Do not call it inside a transaction.
/// Throws SQLite::Exception and std::filesystem::filesystem_error.
void copy_database(SQLite::Database& from, const std::filesystem::path& target);

/// Writes a file, and the entry of its folder, to the disk; best effort.
void sync_to_disk(const std::filesystem::path& file);

} // namespace batchscope::store::detail
