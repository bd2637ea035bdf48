#pragma once

#include <filesystem>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/run_merge.h"

namespace batchscope::store::detail {

// Saves what a connection can still read in files that were replaced at their paths. This takes two steps, because
// SQLite cannot have the old and the new WAL of one database open in one process: first a copy beside the database,
// then, after the old connections were closed, from that copy into the database that is there now.

/// One line for the user on what write_view() did. `saved` is the copy.
std::string to_string(const MergedRuns& merged, const std::filesystem::path& file, const std::filesystem::path& saved);

/// Copies everything that `old` can read to a new file beside `file`, completely or not at all. Do not call it inside a
/// transaction. Throws SQLite::Exception.
std::filesystem::path save_view(SQLite::Database& old, const std::filesystem::path& file);

/// Adds to a database the runs (identified by uid), sweeps and searches of the copy that it does not have, and
/// completes those of which it has fewer points or events, in one transaction. If the database is not the one that was
/// copied, only the runs that this process is writing are added; the others are `left` in the copy. The copy stays
/// attached. Throws SQLite::Exception and Error.
MergedRuns write_view(const std::filesystem::path& saved, SQLite::Database& database);

} // namespace batchscope::store::detail
