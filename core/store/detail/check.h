#pragma once

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// What is damaged, one line each: SQLite's own checks, then every stored point against its checksum and every series
/// against its summary.
std::vector<std::string> check(SQLite::Database& database);

} // namespace batchscope::store::detail
