#pragma once

#include <cstdint>
#include <memory>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/run_buffer.h"
#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Cuts a run back to its checkpoint (NewRun::resumed) and makes it a running one that `process` writes, inside the
/// caller's transaction. Returns the buffer with which it goes on; call its committed() after the commit. Throws Error
/// (input) for a run that cannot be resumed, Error (failed) if its points are damaged, and SQLite::Exception.
std::shared_ptr<RunBuffer> resume_run(SQLite::Database& database, const NewRun& run, std::int64_t process,
                                      std::size_t max_waiting);

} // namespace batchscope::store::detail
