#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// See RunReader::changes(); inside a transaction of the caller. The cursor moves only when all was read. Throws
/// SQLite::Exception.
ListChanges read_list_changes(SQLite::Database& database, ListCursor& cursor);

} // namespace batchscope::store::detail
