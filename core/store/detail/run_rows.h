#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// A uid for a run that is about to be added: 32 hexadecimal digits, random.
std::string new_uid();

/// Adds a row to the table of runs and returns its id; `process` is that of a run that is still to be written.
std::int64_t insert_run(SQLite::Database& database, const NewRun& run, const std::string& uid,
                        std::optional<std::int64_t> process);

/// Columns of the table of runs that hold a RunOutcome, in its order.
inline constexpr const char* outcome_columns =
    "status, reason, batch, steps, examples_seen, epoch, train_coverage, oom_events, loss, validation_loss, "
    "validation_accuracy, peak_bytes, seconds, examples_per_second";
inline constexpr int outcome_column_count = 14;
/// The outcome in a result's columns `first` and following, which are outcome_columns.
RunOutcome read_outcome(SQLite::Statement& query, int first);

/// Selects runs as read_run() reads them, in the order of their ids; `condition` stands behind WHERE.
std::string run_query(const std::string& condition);
/// A run whose process is gone reads as interrupted.
RunRow read_run(SQLite::Statement& query);
/// The run, unless there is none or it is marked as deleted.
std::optional<RunRow> find_run(SQLite::Database& database, std::int64_t id);
/// Whether a run of that status goes on, or is still to begin.
bool is_open(const std::string& status);

/// Sets what a run came to so far, or in the end; prepared once, used often.
class RunUpdate {
public:
  explicit RunUpdate(SQLite::Database& database);
  void progress(std::int64_t id, const RunOutcome& outcome);
  /// Also says that no process writes the run any more.
  void close(std::int64_t id, const RunOutcome& outcome);

private:
  void update(std::int64_t id, const RunOutcome& outcome, bool closing);

  SQLite::Statement statement_;
};

std::int64_t insert_sweep(SQLite::Database& database, const std::string& spec_json);
std::int64_t insert_search(SQLite::Database& database, const std::string& spec_json, const std::string& result_json);

} // namespace batchscope::store::detail
