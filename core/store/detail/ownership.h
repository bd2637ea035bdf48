#pragma once

#include <cstdint>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// The entry of one RunStore in the table of processes, from opening to closing.
///
/// Entries of processes that are gone tell of an unclean exit: the database is checked then (throws Error (failed) when
/// it is damaged), and their runs are marked `interrupted`.
std::int64_t enter_process(SQLite::Database& database, const std::filesystem::path& file);
void leave_process(SQLite::Database& database, std::int64_t id);

} // namespace batchscope::store::detail
