#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// Calls `take` with each row of a table that can be read, in the order of their rowids, which is the first column of
/// the row; `columns` are those that follow. Uses no index. Skips what cannot be read, and calls `skipped` with the
/// last rowid before it. Throws what `take` throws, and SQLite::Exception if not even the table can be found.
void scan_rows(SQLite::Database& database, const std::string& table, const std::string& columns,
               const std::function<void(SQLite::Statement& row)>& take,
               const std::function<void(std::int64_t after)>& skipped);

} // namespace batchscope::store::detail
