#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"

namespace batchscope::store::detail {

/// See RunReader::changes(); inside the caller's transaction. Advances the cursor only if everything was read. Throws
/// SQLite::Exception.
ListChanges read_list_changes(SQLite::Database& database, ListCursor& cursor);

} // namespace batchscope::store::detail
