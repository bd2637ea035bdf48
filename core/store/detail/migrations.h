#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace SQLite {
class Database;
}

namespace batchscope::store::detail {

/// The steps from an empty file to the present format, in order: resources/migrations/NNN.sql. The number of steps is
/// the number of the format.
std::vector<std::string_view> embedded_migrations();

/// "BtSc": tells our files from other programs' databases.
inline constexpr int application_id = 0x42745363;

/// Throws Error (input) for another program's database or a newer format; returns the format, 0 for an empty database.
int checked_format(SQLite::Database& database, const std::filesystem::path& file, int newest);

/// Brings the database up to the last of `steps`, all of it or nothing. A file that holds runs already is first copied
/// to `FILE.format-N.backup`, or with a number behind where that is there already. Safe against another process that
/// does the same at the same time.
void migrate(SQLite::Database& database, const std::filesystem::path& file, const std::vector<std::string_view>& steps);

} // namespace batchscope::store::detail
