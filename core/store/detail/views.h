#pragma once

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_row.h"

// Saved views, see RunStore; inside the caller's transaction.
namespace batchscope::store::detail {

void store_view(SQLite::Database& database, const std::string& name, const std::string& content_json);
void remove_view(SQLite::Database& database, const std::string& name);
std::vector<SavedView> read_views(SQLite::Database& database);

} // namespace batchscope::store::detail
