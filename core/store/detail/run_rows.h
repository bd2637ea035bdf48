#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// A uid for a new run: 32 random hexadecimal digits.
std::string new_uid();

/// Adds a row to the table of runs and returns its id; `process` is set for a run that is still to be written.
std::int64_t insert_run(SQLite::Database& database, const NewRun& run, const std::string& uid,
                        std::optional<std::int64_t> process);

/// The run with this uid, also if it is marked as deleted.
std::optional<std::int64_t> run_with_uid(SQLite::Database& database, const std::string& uid);

/// Begins a run that `process` has claimed (NewRun::claimed) and returns its uid; nothing if it is no longer claimed:
/// it was deleted, or the database's files were replaced.
std::optional<std::string> begin_claimed(SQLite::Database& database, const NewRun& run, std::int64_t process);

/// Columns of the table of runs that hold a RunOutcome: the names of telemetry::outcome_fields().
std::string outcome_columns();

/// A query of runs for read_run(), in the order of their ids; `condition` follows WHERE, and
/// `more` the columns, of which the first further one is columns_of_run().
std::string run_query(const std::string& condition, const std::string& more = {});
int columns_of_run();

/// Which runs of a sweep wait to be made, and in which order they are taken.
inline constexpr const char* run_waits = "status = 'queued' AND process IS NULL AND deleted IS NULL";
inline constexpr const char* waiting_order = "ORDER BY coalesce(position, id), id";
std::vector<std::int64_t> waiting_runs(SQLite::Database& database, std::int64_t sweep);

/// A run whose process has ended reads as interrupted.
RunRow read_run(SQLite::Statement& query);
/// The run; nothing if it does not exist or is marked as deleted.
std::optional<RunRow> find_run(SQLite::Database& database, std::int64_t id);

/// Updates a run's outcome; prepared once, used often.
class RunUpdate {
public:
  explicit RunUpdate(SQLite::Database& database);
  void progress(std::int64_t id, const telemetry::RunOutcome& outcome);
  /// Also records that no process writes the run any more.
  void close(std::int64_t id, const telemetry::RunOutcome& outcome);

private:
  void update(std::int64_t id, const telemetry::RunOutcome& outcome, bool closing);

  SQLite::Statement statement_;
};

std::int64_t insert_sweep(SQLite::Database& database, const std::string& spec_json);
void update_sweep(SQLite::Database& database, std::int64_t sweep, const std::string& spec_json);
std::int64_t insert_search(SQLite::Database& database, const std::string& spec_json, const std::string& result_json);

} // namespace batchscope::store::detail
