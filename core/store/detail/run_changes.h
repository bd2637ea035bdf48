#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

// Changes of runs that are stored, see RunStore; inside a transaction of the caller. They throw Error (input) for a run
// that is not there.

void rename_run(SQLite::Database& database, std::int64_t run, const std::string& name);
void set_note(SQLite::Database& database, std::int64_t run, const std::string& text);
void set_deleted(SQLite::Database& database, const std::vector<std::int64_t>& runs, bool deleted);
/// Removes some of the runs that are marked as deleted, the first at least: so many that a transaction of them is short
/// and its log small. Returns their uids; none when there are none left.
std::vector<std::string> purge_some(SQLite::Database& database);

} // namespace batchscope::store::detail
