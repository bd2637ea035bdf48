#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace SQLite {
class Database;
}

namespace batchscope::store::detail {

/// The migrations from an empty file to the current format, in order: resources/migrations/NNN.sql. Their number is the
/// number of the format.
std::vector<std::string_view> embedded_migrations();

/// "BtSc": SQLite application id of our files.
inline constexpr int application_id = 0x42745363;

/// Returns the format, 0 for an empty database. Throws Error (input) for another program's database or a newer format.
int checked_format(SQLite::Database& database, const std::filesystem::path& file, int newest);

/// Migrates the database to the last of `steps`, in one transaction. A file that already holds runs is first copied to
/// `FILE.format-N.backup`, with a number appended if that exists. Safe while another process migrates the same file.
void migrate(SQLite::Database& database, const std::filesystem::path& file, const std::vector<std::string_view>& steps);

} // namespace batchscope::store::detail
