#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/ledger.h"

namespace batchscope::store::detail {

/// Describes all damage, one line each: SQLite's own checks, the schema against that of the migrations, every row
/// against its checksums, every stored point against its checksum and every series against its summary.
std::vector<std::string> check(SQLite::Database& database);

/// SQLite's quick check; empty if it finds nothing, or is ended by `stop` (empty: never), which another thread asks.
std::vector<std::string> check_quickly(SQLite::Database& database, const std::function<bool()>& stop = {});

/// All runs, those marked as deleted included, with the number of points of all their series.
std::vector<Ledger::Run> stored_runs(SQLite::Database& database);

/// Runs and points that the ledger of `file` has and the database does not, one line per run, and a last line with
/// advice. Do not call it inside a transaction: a run may be purged between the two reads.
std::vector<std::string> missing_runs(SQLite::Database& database, const std::filesystem::path& file);

} // namespace batchscope::store::detail
