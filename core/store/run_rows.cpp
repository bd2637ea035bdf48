#include "core/store/detail/run_rows.h"

#include <random>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/sql.h"

namespace batchscope::store::detail {

namespace {

// Columns of run_query() before and after those of the outcome.
constexpr int before_outcome = 6;
constexpr int behind_outcome = before_outcome + outcome_column_count;

// Binds ?1 ... ?14 in the order of outcome_columns.
void bind_outcome(SQLite::Statement& statement, const RunOutcome& outcome) {
  statement.bind(1, outcome.status);
  statement.bind(2, outcome.reason);
  bind_integer(statement, 3, outcome.batch);
  statement.bind(4, outcome.steps);
  statement.bind(5, outcome.examples_seen);
  bind_real(statement, 6, outcome.epoch);
  bind_real(statement, 7, outcome.train_coverage);
  statement.bind(8, outcome.oom_events);
  bind_real(statement, 9, outcome.loss);
  bind_real(statement, 10, outcome.validation_loss);
  bind_real(statement, 11, outcome.validation_accuracy);
  statement.bind(12, static_cast<std::int64_t>(outcome.peak_bytes));
  bind_real(statement, 13, outcome.seconds);
  bind_real(statement, 14, outcome.examples_per_second);
}

bool is_abandoned(SQLite::Statement& row) {
  if (row.getColumn(behind_outcome).isNull())
    return true;
  return is_gone(read_process(row, behind_outcome));
}

} // namespace

std::string new_uid() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::int64_t insert_run(SQLite::Database& database, const NewRun& run, const std::string& uid,
                        std::optional<std::int64_t> process) {
  if (run.sweep) {
    SQLite::Statement known(database, "SELECT 1 FROM sweep WHERE id = ?");
    known.bind(1, *run.sweep);
    if (!known.executeStep())
      throw input_error(fmt::format("there is no sweep {} to add a run to", *run.sweep));
  }
  SQLite::Statement insert(database,
                           fmt::format("INSERT INTO run ({}, uid, name, process, sweep, started, spec, start) VALUES "
                                       "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
                                       "?15, ?16, ?17, ?18, ?19, ?20, ?21)",
                                       outcome_columns));
  RunOutcome nothing_yet;
  nothing_yet.status = run.status;
  nothing_yet.batch = run.batch;
  bind_outcome(insert, nothing_yet);
  insert.bind(15, uid);
  insert.bind(16, run.name);
  bind_integer(insert, 17, process);
  bind_integer(insert, 18, run.sweep);
  insert.bind(19, utc_now());
  insert.bind(20, run.spec_json);
  insert.bind(21, run.start_json);
  execute(insert);
  return database.getLastInsertRowid();
}

RunOutcome read_outcome(SQLite::Statement& query, int first) {
  const auto column = [&](int offset) { return query.getColumn(first + offset); };
  return {.status = column(0),
          .reason = column(1),
          .batch = optional_integer(column(2)),
          .steps = column(3).getInt64(),
          .examples_seen = column(4).getInt64(),
          .epoch = real(column(5)),
          .train_coverage = real(column(6)),
          .oom_events = column(7).getInt64(),
          .loss = optional_real(column(8)),
          .validation_loss = optional_real(column(9)),
          .validation_accuracy = optional_real(column(10)),
          .peak_bytes = static_cast<std::uint64_t>(column(11).getInt64()),
          .seconds = real(column(12)),
          .examples_per_second = real(column(13))};
}

std::string run_query(const std::string& condition) {
  return fmt::format("SELECT run.id, uid, name, run.started, sweep, note, {}, process.host, process.boot, process.pid, "
                     "process.started FROM run LEFT JOIN process ON process.id = run.process WHERE {} ORDER BY run.id",
                     outcome_columns, condition);
}

RunRow read_run(SQLite::Statement& query) {
  RunRow run{.id = query.getColumn(0).getInt64(),
             .uid = query.getColumn(1),
             .name = query.getColumn(2),
             .started = query.getColumn(3),
             .sweep = optional_integer(query.getColumn(4)),
             .note = query.getColumn(5),
             .outcome = read_outcome(query, before_outcome)};
  if (is_open(run.outcome.status) && is_abandoned(query))
    run.outcome.status = "interrupted";
  return run;
}

std::optional<RunRow> find_run(SQLite::Database& database, std::int64_t id) {
  SQLite::Statement query(database, run_query("run.id = ? AND deleted IS NULL"));
  query.bind(1, id);
  return query.executeStep() ? std::optional(read_run(query)) : std::nullopt;
}

bool is_open(const std::string& status) {
  return status == "running" || status == "queued";
}

RunUpdate::RunUpdate(SQLite::Database& database)
    : statement_(database, fmt::format("UPDATE run SET ({}, process) = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                                       "?12, ?13, ?14, iif(?15, NULL, process)) WHERE id = ?16",
                                       outcome_columns)) {}

void RunUpdate::progress(std::int64_t id, const RunOutcome& outcome) {
  update(id, outcome, false);
}

void RunUpdate::close(std::int64_t id, const RunOutcome& outcome) {
  update(id, outcome, true);
}

void RunUpdate::update(std::int64_t id, const RunOutcome& outcome, bool closing) {
  bind_outcome(statement_, outcome);
  statement_.bind(15, closing ? 1 : 0);
  statement_.bind(16, id);
  execute(statement_);
}

std::int64_t insert_sweep(SQLite::Database& database, const std::string& spec_json) {
  SQLite::Statement insert(database, "INSERT INTO sweep (created, spec) VALUES (?, ?)");
  insert.bind(1, utc_now());
  insert.bind(2, spec_json);
  execute(insert);
  return database.getLastInsertRowid();
}

std::int64_t insert_search(SQLite::Database& database, const std::string& spec_json, const std::string& result_json) {
  SQLite::Statement insert(database, "INSERT INTO search (created, spec, result) VALUES (?, ?, ?)");
  insert.bind(1, utc_now());
  insert.bind(2, spec_json);
  insert.bind(3, result_json);
  execute(insert);
  return database.getLastInsertRowid();
}

} // namespace batchscope::store::detail
