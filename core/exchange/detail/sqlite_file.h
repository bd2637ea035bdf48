#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/exchange/import.h"

// Databases of other programs, which may be writing to them.
namespace batchscope::exchange::detail {

/// Whether the file's first bytes are those of an SQLite database.
bool is_sqlite(const std::filesystem::path& path);

/// Whether a table has the column.
bool has_column(SQLite::Database& database, const std::string& table, const std::string& column);

/// Reads the database as it is at one moment. Throws Error (input) for one that cannot be read; `whose`: the program
/// whose database it is taken for.
ImportedRuns read_sqlite(const std::filesystem::path& path, const std::string& whose,
                         const std::function<ImportedRuns(SQLite::Database&)>& read);

} // namespace batchscope::exchange::detail
