#pragma once

#include <cstdint>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/process.h"

namespace batchscope::store::detail {

/// Adds the row of a RunStore to the table of processes, which stays until the store closes, and returns its id. If the
/// database was reopened after its files were replaced, returns the existing row.
///
/// Rows of processes that have ended are traces of an unclean exit: then the database is checked (throws Error (failed)
/// if it is damaged), and the runs of these processes are marked `interrupted`.
std::int64_t enter_process(SQLite::Database& database, const std::filesystem::path& file, const OpenStore& store);
void leave_process(SQLite::Database& database, std::int64_t id);

/// Reads host, boot, pid and started of a row of that table from the columns `first` and following.
ProcessIdentity read_process(SQLite::Statement& query, int first);

} // namespace batchscope::store::detail
