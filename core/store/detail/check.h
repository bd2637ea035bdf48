#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/ledger.h"

namespace batchscope::store::detail {

/// What is damaged, one line each: SQLite's own checks, then every stored point against its checksum and every series
/// against its summary.
std::vector<std::string> check(SQLite::Database& database);

/// SQLite's quick check; empty when it finds nothing.
std::vector<std::string> check_quickly(SQLite::Database& database);

/// All runs, those marked as deleted included, with the points of all their series.
std::vector<Ledger::Run> stored_runs(SQLite::Database& database);

/// What the ledger beside `file` has and the database has not, one line a run, and a last one that says what to do. Not
/// inside a transaction: a run may be purged between the two looks.
std::vector<std::string> missing_runs(SQLite::Database& database, const std::filesystem::path& file);

} // namespace batchscope::store::detail
