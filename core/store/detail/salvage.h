#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

// Saves what a connection can still read in files that were replaced at their paths. This takes two steps, because
// SQLite cannot have the old and the new WAL of one database open in one process: first a copy beside the database,
// then, after the old connections were closed, from that copy into the database that is there now.

/// Result of write_view().
struct Salvage {
  std::int64_t added = 0;     ///< runs that the database did not have
  std::int64_t completed = 0; ///< runs of which it had less
  std::int64_t left = 0;      ///< runs that stay only in the copy, because another database is there now
  std::vector<std::pair<std::int64_t, std::int64_t>> renumbered; ///< added runs whose number was taken: old and new
};

/// One line for the user. `saved` is the copy.
std::string to_string(const Salvage& salvage, const std::filesystem::path& file, const std::filesystem::path& saved);

/// Copies everything that `old` can read to a new file beside `file`, completely or not at all. Do not call it inside a
/// transaction. Throws SQLite::Exception.
std::filesystem::path save_view(SQLite::Database& old, const std::filesystem::path& file);

/// Adds to a database the runs (identified by uid), sweeps and searches of the copy that it does not have, and
/// completes those of which it has fewer points or events, in one transaction. If the database is not the one that was
/// copied, only the runs that this process is writing are added. The copy stays attached. Throws SQLite::Exception and
/// Error.
Salvage write_view(const std::filesystem::path& saved, SQLite::Database& database);

} // namespace batchscope::store::detail
