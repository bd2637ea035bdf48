#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

// What a connection still reads in files that were replaced under their names is saved in two steps, because SQLite
// cannot have the old and the new WAL of one database open in one process: first as a copy beside the database, then,
// with the old connections closed, from that copy into the database that is there now.

/// What write_view() did.
struct Salvage {
  std::int64_t added = 0;     ///< runs that the database did not have
  std::int64_t completed = 0; ///< runs of which it had less
  std::int64_t left = 0;      ///< runs that stay in the copy alone, because another database is there now
  std::vector<std::pair<std::int64_t, std::int64_t>> renumbered; ///< added ones whose number was taken: old and new
};

/// One line for a person. `saved` is the copy.
std::string to_string(const Salvage& salvage, const std::filesystem::path& file, const std::filesystem::path& saved);

/// Copies all that `old` reads to a new file beside `file`; whole or not at all. Not inside a transaction. Throws
/// SQLite::Exception.
std::filesystem::path save_view(SQLite::Database& old, const std::filesystem::path& file);

/// Adds to a database the runs (known by their uid), sweeps and searches of the copy that it does not have, and
/// completes those of which it has fewer points or events; all in one transaction. In another database than the copied
/// one only the runs that this process is writing are added. The copy stays attached. Throws SQLite::Exception and
/// Error.
Salvage write_view(const std::filesystem::path& saved, SQLite::Database& database);

} // namespace batchscope::store::detail
