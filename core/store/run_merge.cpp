#include "core/store/detail/run_merge.h"

#include <map>

#include <fmt/format.h>

#include "core/store/detail/ownership.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

/// Columns of a run that its training writes, apart from its uid and numbers of other rows.
std::string made_columns() {
  return "started, spec, start, workers, environment, settings_key, " + outcome_columns();
}
/// Those that the user changes.
constexpr const char* user_columns = "name, note, tags, deleted, position";

/// The row in `main` that corresponds to one of `old`, found or added.
using Place = std::optional<std::int64_t>;

class Merge {
public:
  Merge(SQLite::Database& database, MergeKind kind) : database_(database), kind_(kind) {}

  MergedRuns run() {
    if (kind_ != MergeKind::own_runs)
      copy_searches();
    MergedRuns merged;
    for (const Run& run : runs()) {
      if (!is_wanted(run)) {
        ++merged.left;
        continue;
      }
      if (const Place there = find_integer(database_, "SELECT id FROM main.run WHERE uid = ?", run.uid))
        (complete(run, *there) ? merged.completed : merged.known).push_back({run.id, *there, run.uid});
      else
        merged.added.push_back({run.id, add(run), run.uid});
    }
    if (kind_ == MergeKind::everything)
      database_.exec("INSERT OR IGNORE INTO main.view (name, created, content) SELECT name, created, content FROM "
                     "old.view ORDER BY id");
    return merged;
  }

private:
  struct Run {
    std::int64_t id;
    std::string uid;
    Place process, sweep;
    bool own = false;   ///< this process is writing it
    bool begun = false; ///< and not deleted
  };

  std::vector<Run> runs() {
    std::vector<Run> runs;
    const ProcessIdentity self = this_process();
    SQLite::Statement query(
        database_, "SELECT run.id, uid, run.process, sweep, status <> 'queued' AND deleted IS NULL, host, boot, "
                   "pid, process.started FROM old.run LEFT JOIN old.process ON process.id = run.process "
                   "ORDER BY run.id");
    while (query.executeStep()) {
      Run run{.id = query.getColumn(0).getInt64(),
              .uid = query.getColumn(1),
              .process = optional_integer(query.getColumn(2)),
              .sweep = optional_integer(query.getColumn(3)),
              .begun = query.getColumn(4).getInt() != 0};
      if (run.process) {
        const ProcessIdentity writer = read_process(query, 5);
        run.own = writer.host == self.host && writer.boot == self.boot && writer.pid == self.pid;
      }
      runs.push_back(std::move(run));
    }
    return runs;
  }

  bool is_wanted(const Run& run) const {
    return kind_ == MergeKind::everything || (kind_ == MergeKind::own_runs ? run.own : run.begun);
  }

  /// Copies a row into `main` that users know by its number, under the same number if that is free. A row with the same
  /// content is the same row; in a copy of this database, it also has the same number.
  std::int64_t copy_row(const std::string& table, const std::string& columns, std::int64_t id) {
    if (const Place there = find_integer(
            database_,
            fmt::format("SELECT main.{0}.id FROM main.{0} JOIN old.{0} USING ({2}{1}) WHERE old.{0}.id = ?", table,
                        columns, kind_ == MergeKind::other ? "" : "id, "),
            id))
      return *there;
    execute(database_,
            fmt::format("INSERT INTO main.{0} (id, {1}) SELECT iif(EXISTS (SELECT 1 FROM main.{0} WHERE id = ?1), "
                        "NULL, id), {1} FROM old.{0} WHERE id = ?1",
                        table, columns),
            id);
    return database_.getLastInsertRowid();
  }

  void copy_searches() {
    for (const std::int64_t id : find_integers(database_, "SELECT id FROM old.search ORDER BY id"))
      searches_[id] = copy_row("search", "created, spec, result", id);
  }

  /// The sweep of a run that is added: that of the runs of the same sweep that are there already.
  Place sweep_of(const Run& run) {
    if (!run.sweep)
      return std::nullopt;
    if (const Place there =
            find_integer(database_,
                         "SELECT main.run.sweep FROM main.run JOIN old.run USING (uid) WHERE old.run.sweep = ? AND "
                         "main.run.sweep IS NOT NULL LIMIT 1",
                         *run.sweep))
      return there;
    return copy_row("sweep", "created, spec", *run.sweep);
  }

  /// A running run keeps its process, so that it does not read as interrupted. In another database nobody writes it.
  Place process_of(const Run& run) {
    if (!run.process || kind_ == MergeKind::other)
      return std::nullopt;
    if (const Place there =
            find_integer(database_,
                         "SELECT main.process.id FROM main.process JOIN old.process USING (host, boot, pid, started) "
                         "WHERE old.process.id = ?",
                         *run.process))
      return there;
    execute(database_,
            "INSERT INTO main.process (host, boot, pid, started) SELECT host, boot, pid, started FROM old.process "
            "WHERE id = ?",
            *run.process);
    return database_.getLastInsertRowid();
  }

  std::int64_t add(const Run& run) {
    execute(database_,
            fmt::format("INSERT INTO main.run (id, process, sweep, uid, {0}, {1}) SELECT iif(EXISTS (SELECT 1 FROM "
                        "main.run WHERE id = ?1), NULL, id), ?2, ?3, uid, {0}, {1} FROM old.run WHERE id = ?1",
                        made_columns(), user_columns),
            run.id, process_of(run), sweep_of(run));
    const std::int64_t id = database_.getLastInsertRowid();
    settle(id);
    copy_records(run.id, id);
    insert_rows("command", "run", "created, verb, detail, taken", run.id, id);
    return id;
  }

  /// Whether `old` had more of a run that is in both.
  bool complete(const Run& run, std::int64_t id) {
    if (!has_more(run.id, id))
      return false;
    const std::string columns =
        made_columns() + (kind_ == MergeKind::other ? std::string() : fmt::format(", {}", user_columns));
    execute(
        database_,
        fmt::format("UPDATE main.run SET (process, {0}) = (SELECT ?3, {0} FROM old.run WHERE id = ?1) WHERE id = ?2",
                    columns),
        run.id, id, process_of(run));
    settle(id);
    execute(database_, "DELETE FROM main.event WHERE run = ?", id);
    execute(database_, "DELETE FROM main.frame WHERE run = ?", id); // with its series and chunks
    copy_records(run.id, id);
    return true;
  }

  /// Adapts the parts of a run that are true only in its own database: that somebody writes it, and which search chose
  /// its batch.
  void settle(std::int64_t id) {
    if (kind_ != MergeKind::other)
      return;
    execute(database_, "UPDATE main.run SET status = 'interrupted' WHERE id = ? AND status = 'running'", id);
    const Place search = find_integer(
        database_, "SELECT json_extract(start, '$.search') FROM main.run WHERE id = ? AND json_valid(start)", id);
    const auto found = searches_.find(search.value_or(0)); // 0: none
    if (found == searches_.end() || found->second == search)
      return;
    execute(database_, "UPDATE main.run SET start = json_set(start, '$.search', ?) WHERE id = ?", found->second, id);
  }

  bool has_more(std::int64_t old_id, std::int64_t id) {
    const auto size = [&](const char* schema, std::int64_t run) {
      auto query = prepare(database_,
                           fmt::format("SELECT (SELECT coalesce(sum(n), 0) FROM {0}.series WHERE run = ?1), "
                                       "(SELECT count(*) FROM {0}.event WHERE run = ?1), "
                                       "status NOT IN ('running', 'queued', 'interrupted'), "
                                       "name || char(0) || note || char(0) || coalesce(deleted, '') || char(0) || tags "
                                       "FROM {0}.run WHERE id = ?1",
                                       schema),
                           run);
      query.executeStep();
      return std::tuple(query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), query.getColumn(2).getInt(),
                        query.getColumn(3).getString());
    };
    const auto [old_points, old_events, old_over, old_texts] = size("old", old_id);
    const auto [points, events, over, texts] = size("main", id);
    if (points > old_points || events > old_events || over > old_over)
      return false;
    return old_points > points || old_events > events || old_over > over ||
           (kind_ != MergeKind::other && old_texts != texts);
  }

  void copy_records(std::int64_t old_run, std::int64_t run) {
    insert_rows("event", "run", "step, seconds, kind, detail", old_run, run);
    for (const std::int64_t old_frame : ids_of("frame", "run", old_run)) {
      const std::int64_t frame = insert_row("INSERT INTO main.frame (run) VALUES (?1)", run);
      insert_rows("step_chunk", "frame", "first, n, first_step, last_step, crc, data", old_frame, frame);
      insert_rows("tail", "frame", "number, crc, data", old_frame, frame, "number");
      for (const std::int64_t old_series : ids_of("series", "frame", old_frame)) {
        const std::int64_t series =
            insert_row("INSERT INTO main.series (run, frame, name, position, n, last_step, last, min, max) SELECT ?1, "
                       "?2, name, position, n, last_step, last, min, max FROM old.series WHERE id = ?3",
                       run, frame, old_series);
        insert_rows("value_chunk", "series", "first, n, min, max, crc, data", old_series, series);
      }
    }
  }

  std::vector<std::int64_t> ids_of(const char* table, const char* parent, std::int64_t id) {
    return find_integers(database_, fmt::format("SELECT id FROM old.{} WHERE {} = ? ORDER BY id", table, parent), id);
  }

  template <typename... Values> std::int64_t insert_row(const std::string& text, const Values&... values) {
    execute(database_, text, values...);
    return database_.getLastInsertRowid();
  }

  /// Copies the rows of a parent to its counterpart in `main`.
  void insert_rows(const char* table, const char* parent, const char* columns, std::int64_t old_id, std::int64_t id,
                   const char* order = "id") {
    execute(database_,
            fmt::format("INSERT INTO main.{0} ({1}, {2}) SELECT ?1, {2} FROM old.{0} WHERE {1} = ?2 ORDER BY {3}",
                        table, parent, columns, order),
            id, old_id);
  }

  SQLite::Database& database_;
  const MergeKind kind_;
  std::map<std::int64_t, std::int64_t> searches_; ///< numbers in `main` by those in `old`
};

} // namespace

MergedRuns merge_runs(SQLite::Database& database, MergeKind kind) {
  return Merge(database, kind).run();
}

} // namespace batchscope::store::detail
