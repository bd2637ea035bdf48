#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Adds or extends runs that were made elsewhere, inside the caller's transaction, see RunStore::add_complete(). Throws
/// SQLite::Exception.
class CompleteRuns {
public:
  /// `process` writes the runs that are still running.
  CompleteRuns(SQLite::Database& database, const std::vector<std::string>& sweeps, std::int64_t process)
      : database_(database), sweeps_(sweeps), process_(process) {}

  /// Also returns the uid under which the run is there now.
  std::pair<RunStore::Added, std::string> add(const CompleteRun& run);

private:
  std::int64_t insert(const CompleteRun& run, const std::string& uid);

  SQLite::Database& database_;
  const std::vector<std::string>& sweeps_;
  const std::int64_t process_;
  std::map<std::size_t, std::int64_t> stored_sweeps_; ///< numbers in the database, by index
};

} // namespace batchscope::store::detail
