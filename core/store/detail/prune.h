#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/ledger.h"
#include "core/store/run_reader.h"

// Removal of series, see RunStore::prune(). Throw SQLite::Exception.
namespace batchscope::store::detail {

RunReader::Prunable prunable(SQLite::Database& database, const std::vector<std::int64_t>& runs,
                             const std::vector<std::string>& keep);

/// Removes the series of a run, inside the caller's transaction. Returns how many; nothing is done to a run that is
/// gone or has not ended. `now` receives what the ledger is to know of a changed run.
std::int64_t prune_run(SQLite::Database& database, std::int64_t run, const std::vector<std::string>& keep,
                       const std::function<void(const Ledger::Run& now)>& changed);

std::uint64_t free_bytes(SQLite::Database& database);

} // namespace batchscope::store::detail
