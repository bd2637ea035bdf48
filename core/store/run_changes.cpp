#include "core/store/detail/run_changes.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utc.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

void set_text(SQLite::Database& database, const char* column, std::int64_t run, const std::string& text) {
  if (execute(database, fmt::format("UPDATE run SET {} = ? WHERE id = ? AND deleted IS NULL", column), text, run) == 0)
    throw no_run(run);
}

/// A queued run that no process has taken can be deleted.
bool has_process(SQLite::Database& database, std::int64_t run) {
  return find_integer(database, "SELECT process FROM run WHERE id = ?", run).has_value();
}

void refuse_open(SQLite::Database& database, std::int64_t run) {
  const auto row = find_run(database, run);
  if (row && telemetry::is_open(row->outcome.status) && has_process(database, run))
    throw input_error(fmt::format("run {} is {} and cannot be deleted; stop it, or wait until it ends", run,
                                  telemetry::to_string(row->outcome.status)));
}

} // namespace

Error no_run(std::int64_t run) {
  return input_error(fmt::format("there is no run {}", run));
}

void rename_run(SQLite::Database& database, std::int64_t run, const std::string& name) {
  set_text(database, "name", run, name);
}

void set_note(SQLite::Database& database, std::int64_t run, const std::string& text) {
  set_text(database, "note", run, text);
}

void set_deleted(SQLite::Database& database, const std::vector<std::int64_t>& runs, bool deleted) {
  // A run that is already marked keeps its time of deletion.
  SQLite::Statement update(database, "UPDATE run SET deleted = iif(?1, coalesce(deleted, ?2), NULL) WHERE id = ?3");
  const std::string now = utc_now();
  for (const std::int64_t run : runs) {
    if (deleted)
      refuse_open(database, run);
    if (execute(update, deleted ? 1 : 0, now, run) == 0)
      throw no_run(run);
  }
}

// Limited by steps, because they take the space: about 130 bytes each.
std::vector<std::string> purge_some(SQLite::Database& database) {
  constexpr std::int64_t enough_steps = 50'000;
  std::vector<std::string> uids;
  {
    SQLite::Statement query(database, "SELECT uid, steps FROM run WHERE deleted IS NOT NULL ORDER BY id");
    for (std::int64_t steps = 0; steps < enough_steps && query.executeStep(); steps += query.getColumn(1).getInt64())
      uids.push_back(query.getColumn(0));
  }
  SQLite::Statement remove(database, "DELETE FROM run WHERE uid = ?");
  for (const std::string& uid : uids)
    execute(remove, uid);
  return uids;
}

} // namespace batchscope::store::detail
