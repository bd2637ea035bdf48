#pragma once

#include <cstdint>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/process.h"

namespace batchscope::store::detail {

/// The entry of one RunStore in the table of processes, from opening to closing; the one that is there already where
/// the database was opened again after its files were replaced.
///
/// Entries of processes that are gone tell of an unclean exit: the database is checked then (throws Error (failed) when
/// it is damaged), and their runs are marked `interrupted`.
std::int64_t enter_process(SQLite::Database& database, const std::filesystem::path& file, const OpenStore& store);
/// Whether a process that wrote to the database ended without closing it.
bool closed_abruptly(SQLite::Database& database);
void leave_process(SQLite::Database& database, std::int64_t id);

/// From a result's columns `first` and following: host, boot, pid and started of a row of that table.
ProcessIdentity read_process(SQLite::Statement& query, int first);

} // namespace batchscope::store::detail
