#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/error.h"
#include "core/store/run_row.h"

namespace batchscope::store::detail {

// Changes of stored runs, see RunStore; inside the caller's transaction. They throw Error (input) for a run that does
// not exist.

/// Error that these functions throw for a run that does not exist.
Error no_run(std::int64_t run);

void rename_run(SQLite::Database& database, std::int64_t run, const std::string& name);
void set_note(SQLite::Database& database, std::int64_t run, const std::string& text);
void change_tags(SQLite::Database& database, const std::vector<std::int64_t>& runs,
                 const std::vector<std::string>& tags, bool add);
void set_deleted(SQLite::Database& database, const std::vector<std::int64_t>& runs, bool deleted);
/// Removes some of the runs marked as deleted, at least one: few enough to keep the transaction short and its log
/// small. Returns their uids; none if no more are marked.
std::vector<std::string> purge_some(SQLite::Database& database);

} // namespace batchscope::store::detail
