#include "core/store/detail/run_rows.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/shell_words.h"
#include "core/base/utc.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/tags.h"
#include "core/store/file/detail/sql.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::store::detail {

namespace {

using telemetry::OutcomeField;
using telemetry::RunOutcome;
using telemetry::RunStatus;

int outcome_column_count() {
  return static_cast<int>(telemetry::outcome_fields().size());
}

/// Binds the parameters from `index` on, in the order of outcome_columns().
void bind_outcome(SQLite::Statement& statement, int index, const RunOutcome& outcome) {
  for (const OutcomeField& field : telemetry::outcome_fields()) {
    if (field.text)
      statement.bind(index, field.text(outcome));
    else if (field.integer)
      bind_value(statement, index, field.zero_is_unknown ? field.integer(outcome).value_or(0) : field.integer(outcome));
    else
      bind_value(statement, index, field.zero_is_unknown ? field.real(outcome).value_or(0) : field.real(outcome));
    ++index;
  }
}

/// Reads outcome_columns() from the columns `first` and following.
RunOutcome read_outcome(SQLite::Statement& query, int first) {
  RunOutcome outcome;
  for (const OutcomeField& field : telemetry::outcome_fields()) {
    const SQLite::Column column = query.getColumn(first++);
    if (field.text)
      field.set_text(outcome, column);
    else if (field.integer)
      field.set_integer(outcome, field.nullable ? optional_integer(column) : column.getInt64());
    else
      field.set_real(outcome, field.nullable ? optional_real(column) : real(column));
  }
  return outcome;
}

/// These parameters in a statement.
std::string outcome_parameters(int first) {
  std::string text = fmt::format("?{}", first);
  for (int index = first + 1; index < first + outcome_column_count(); ++index)
    text += fmt::format(", ?{}", index);
  return text;
}

// A spec that is not JSON, of another program, has no settings. A program of the user's own may scale the rate that it
// says, or warm up to it: its rate is the highest of its steps.
constexpr const char* settings_columns =
    "coalesce(json_extract(valid, '$.model'), json_extract(valid, '$.program.command')), json_extract(valid, "
    "'$.data'), json_extract(valid, '$.schedule'), "
    "coalesce(json_extract(valid, '$.optimizer'), json_extract(valid_start, '$.program.settings.optimizer')), "
    "json_extract(valid, '$.device'), "
    "coalesce(json_extract(valid, '$.lr'), json_extract(valid_start, '$.learning_rate'), "
    "(SELECT s.max FROM series AS s WHERE s.run = run.id AND s.name = 'learning_rate' AND typeof(s.max) = 'real' AND "
    "s.max > 0), json_extract(valid_start, '$.program.settings.learning_rate')), "
    "coalesce(json_extract(valid_start, '$.program.settings.seed'), json_extract(valid, '$.seed')), "
    "coalesce(json_type(valid, '$.program') = 'object', 0)";

std::optional<std::string> optional_text(const SQLite::Column& column) {
  return column.isText() ? std::optional(column.getString()) : std::nullopt;
}

/// A model, or the command of a program, which SQLite returns as a JSON array.
std::optional<std::string> model_or_command(const SQLite::Column& column) {
  const auto text = optional_text(column);
  if (!text || !text->starts_with('['))
    return text;
  const Json words = parse_json_or_discard(*text);
  const bool valid =
      words.is_array() && std::all_of(words.begin(), words.end(), [](const Json& w) { return w.is_string(); });
  return valid ? std::optional(shell_line(words.get<std::vector<std::string>>())) : std::nullopt;
}

RunSettings read_settings(SQLite::Statement& query, int first) {
  const auto column = [&](int offset) { return query.getColumn(first + offset); };
  const SQLite::Column rate = column(5);
  const SQLite::Column seed = column(6);
  return {.model = model_or_command(column(0)),
          .data = optional_text(column(1)),
          .schedule = optional_text(column(2)),
          .optimizer = optional_text(column(3)),
          .device = optional_text(column(4)),
          .learning_rate = rate.isFloat() || rate.isInteger() ? std::optional(rate.getDouble()) : std::nullopt,
          .seed = seed.isInteger() ? std::optional<std::int64_t>(seed.getInt64()) : std::nullopt,
          .program = column(7).getInt64() != 0};
}
constexpr int settings_count = 8;
constexpr int before_settings = 8;
constexpr int before_outcome = before_settings + settings_count;

/// Whether nobody will go on with the run: its process has ended, or nobody writes it. A queued run without a process
/// waits for whoever takes it.
bool is_interrupted(SQLite::Statement& row, RunStatus status) {
  const int process = before_outcome + outcome_column_count();
  if (row.getColumn(process).isNull())
    return status == RunStatus::running;
  return telemetry::is_open(status) && is_gone(read_process(row, process));
}

} // namespace

std::string outcome_columns() {
  std::string names;
  for (const OutcomeField& field : telemetry::outcome_fields())
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}

std::string new_uid() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::int64_t insert_run(SQLite::Database& database, const NewRun& run, const std::string& uid,
                        std::optional<std::int64_t> process) {
  if (run.sweep && !find_integer(database, "SELECT 1 FROM sweep WHERE id = ?", *run.sweep))
    throw input_error(fmt::format("there is no sweep {} to add a run to", *run.sweep));
  const auto settings_key = run.settings_key.empty() ? std::nullopt : std::optional(run.settings_key);
  auto insert = prepare(
      database,
      fmt::format("INSERT INTO run (uid, name, process, sweep, started, spec, start, environment, settings_key, {}) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, {})",
                  outcome_columns(), outcome_parameters(10)),
      uid, run.name, process, run.sweep, utc_now(), run.spec_json, run.start_json, run.environment_json, settings_key);
  RunOutcome nothing_yet;
  nothing_yet.status = run.status;
  nothing_yet.batch = run.batch;
  bind_outcome(insert, 10, nothing_yet);
  execute(insert);
  return database.getLastInsertRowid();
}

std::optional<std::int64_t> run_with_uid(SQLite::Database& database, const std::string& uid) {
  return find_integer(database, "SELECT id FROM run WHERE uid = ?", uid);
}

std::optional<std::string> begin_claimed(SQLite::Database& database, const NewRun& run, std::int64_t process) {
  auto update = prepare(database,
                        "UPDATE run SET status = ?, name = ?, started = ?, start = ?, batch = ?, environment = ? WHERE "
                        "id = ? AND process = ? RETURNING uid",
                        telemetry::to_string(run.status), run.name, utc_now(), run.start_json, run.batch,
                        run.environment_json, *run.claimed, process);
  if (!update.executeStep())
    return std::nullopt;
  return update.getColumn(0).getString(); // SQLite has made all changes before it returns the first row
}

int columns_of_run() {
  constexpr int of_process = 4;
  return before_outcome + outcome_column_count() + of_process;
}

std::string run_query(const std::string& condition, const std::string& more) {
  return fmt::format(
      "SELECT run.id, uid, name, run.started, sweep, note, workers, tags, {}, {}, process.host, process.boot, "
      "process.pid, process.started{} FROM (SELECT *, iif(json_valid(spec), spec, NULL) AS valid, "
      "iif(json_valid(start), start, NULL) AS valid_start FROM run) AS run LEFT JOIN process ON process.id = "
      "run.process WHERE {} ORDER BY run.id",
      settings_columns, outcome_columns(), more, condition);
}

std::vector<std::int64_t> waiting_runs(SQLite::Database& database, std::int64_t sweep) {
  return find_integers(database, fmt::format("SELECT id FROM run WHERE sweep = ? AND {} {}", run_waits, waiting_order),
                       sweep);
}

RunRow read_run(SQLite::Statement& query) {
  RunRow run{.id = query.getColumn(0).getInt64(),
             .uid = query.getColumn(1),
             .name = query.getColumn(2),
             .started = query.getColumn(3),
             .sweep = optional_integer(query.getColumn(4)),
             .note = query.getColumn(5),
             .tags = tags_from(query.getColumn(7)),
             .workers = query.getColumn(6).getInt64(),
             .settings = read_settings(query, before_settings),
             .outcome = read_outcome(query, before_outcome)};
  if (is_interrupted(query, run.outcome.status))
    run.outcome.status = RunStatus::interrupted;
  return run;
}

std::optional<RunRow> find_run(SQLite::Database& database, std::int64_t id) {
  auto query = prepare(database, run_query("run.id = ? AND deleted IS NULL"), id);
  return query.executeStep() ? std::optional(read_run(query)) : std::nullopt;
}

RunUpdate::RunUpdate(SQLite::Database& database)
    : statement_(database, fmt::format("UPDATE run SET (process, {}) = (iif(?1, NULL, process), {}) WHERE id = ?2",
                                       outcome_columns(), outcome_parameters(3))) {}

void RunUpdate::progress(std::int64_t id, const RunOutcome& outcome) {
  update(id, outcome, false);
}

void RunUpdate::close(std::int64_t id, const RunOutcome& outcome) {
  update(id, outcome, true);
}

void RunUpdate::update(std::int64_t id, const RunOutcome& outcome, bool closing) {
  bind_values(statement_, closing ? 1 : 0, id);
  bind_outcome(statement_, 3, outcome);
  execute(statement_);
}

std::int64_t insert_sweep(SQLite::Database& database, const std::string& spec_json) {
  execute(database, "INSERT INTO sweep (created, spec) VALUES (?, ?)", utc_now(), spec_json);
  return database.getLastInsertRowid();
}

void update_sweep(SQLite::Database& database, std::int64_t sweep, const std::string& spec_json) {
  if (execute(database, "UPDATE sweep SET spec = ? WHERE id = ?", spec_json, sweep) == 0)
    throw input_error(fmt::format("sweep {} does not exist", sweep));
}

std::int64_t insert_search(SQLite::Database& database, const std::string& spec_json, const std::string& result_json) {
  execute(database, "INSERT INTO search (created, spec, result) VALUES (?, ?, ?)", utc_now(), spec_json, result_json);
  return database.getLastInsertRowid();
}

} // namespace batchscope::store::detail
