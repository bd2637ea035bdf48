#pragma once

#include <cstdint>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Adds a run of the sweep with this number, with all its series and events, inside the caller's transaction; returns
/// its number.
std::int64_t insert_complete(SQLite::Database& database, const CompleteRun& run, std::optional<std::int64_t> sweep);

} // namespace batchscope::store::detail
