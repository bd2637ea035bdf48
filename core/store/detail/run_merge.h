#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// Kind of merge of an attached database `old`: which runs are taken, and how.
enum class MergeKind {
  everything, ///< `old` was this database before: all of it, texts that the user changed there and numbers included
  own_runs,   ///< of another database: the runs that this process is writing
  other,      ///< of another database: all runs that have begun and are not deleted, with their sweeps and searches
};

/// Result of merge_runs().
struct MergedRuns {
  struct Run {
    std::int64_t before = 0; ///< number in `old`
    std::int64_t now = 0;    ///< number in `main`
    std::string uid;
  };
  std::vector<Run> added;     ///< runs that `main` did not have
  std::vector<Run> completed; ///< runs of which it had less
  std::vector<Run> known;     ///< runs of which it had as much
  std::int64_t left = 0;      ///< runs that were not taken
};

/// Merges the attached database `old` into `main`, inside the caller's transaction. A run is the same if its uid is.
/// Throws SQLite::Exception.
MergedRuns merge_runs(SQLite::Database& database, MergeKind kind);

} // namespace batchscope::store::detail
