#include "core/store/detail/salvage.h"

#include <optional>

#include <fmt/format.h>

#include "core/store/detail/database.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/sql.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

namespace {

// All columns of a run but the numbers of other rows: id, process, sweep.
std::string run_columns() {
  return "uid, name, started, spec, start, note, deleted, position, workers, environment, tags, " + outcome_columns();
}

fs::path free_name(const fs::path& file) {
  const std::string first = file.string() + ".saved";
  fs::path name = first;
  for (int number = 2; fs::exists(name); ++number)
    name = fmt::format("{}-{}", first, number);
  return name;
}

/// The row in the new database that corresponds to one of the old, found or added.
using Place = std::optional<std::int64_t>;

Place first_integer(SQLite::Statement& query) {
  return query.executeStep() ? Place(query.getColumn(0).getInt64()) : std::nullopt;
}

/// Merges the attached database `old` into `main`, inside the caller's transaction.
class Merge {
public:
  explicit Merge(SQLite::Database& database) : database_(database) {}

  Salvage run(bool only_own) {
    Salvage salvage;
    for (const Run& run : runs()) {
      if (only_own && !run.own) {
        ++salvage.left;
        continue;
      }
      SQLite::Statement find(database_, "SELECT id FROM main.run WHERE uid = ?");
      find.bind(1, run.uid);
      if (const Place there = first_integer(find))
        salvage.completed += complete(run, *there) ? 1 : 0;
      else
        add(run, salvage);
    }
    if (!only_own) {
      copy_all("search", "created, spec, result");
      database_.exec("INSERT OR IGNORE INTO main.view (name, created, content) SELECT name, created, content FROM "
                     "old.view ORDER BY id");
    }
    return salvage;
  }

private:
  struct Run {
    std::int64_t id;
    std::string uid;
    Place process, sweep;
    bool own; ///< this process is writing it
  };

  std::vector<Run> runs() {
    std::vector<Run> runs;
    const ProcessIdentity self = this_process();
    SQLite::Statement query(database_,
                            "SELECT run.id, uid, run.process, sweep, host, boot, pid, process.started "
                            "FROM old.run LEFT JOIN old.process ON process.id = run.process ORDER BY run.id");
    while (query.executeStep()) {
      Run run{query.getColumn(0).getInt64(), query.getColumn(1), optional_integer(query.getColumn(2)),
              optional_integer(query.getColumn(3)), false};
      if (run.process) {
        const ProcessIdentity writer = read_process(query, 4);
        run.own = writer.host == self.host && writer.boot == self.boot && writer.pid == self.pid;
      }
      runs.push_back(std::move(run));
    }
    return runs;
  }

  /// Copies a row whose number users know into `main`, under the same number if that is free. A row with the same
  /// number and columns is the same row.
  std::int64_t copy_row(const std::string& table, const std::string& columns, std::int64_t id) {
    SQLite::Statement same(database_, fmt::format("SELECT main.{0}.id FROM main.{0} JOIN old.{0} USING (id, {1}) "
                                                  "WHERE old.{0}.id = ?",
                                                  table, columns));
    same.bind(1, id);
    if (const Place there = first_integer(same))
      return *there;
    SQLite::Statement insert(database_,
                             fmt::format("INSERT INTO main.{0} (id, {1}) SELECT iif(EXISTS (SELECT 1 FROM "
                                         "main.{0} WHERE id = ?1), NULL, id), {1} FROM old.{0} WHERE id = ?1",
                                         table, columns));
    insert.bind(1, id);
    execute(insert);
    return database_.getLastInsertRowid();
  }

  void copy_all(const std::string& table, const std::string& columns) {
    std::vector<std::int64_t> ids;
    SQLite::Statement query(database_, fmt::format("SELECT id FROM old.{} ORDER BY id", table));
    while (query.executeStep())
      ids.push_back(query.getColumn(0).getInt64());
    for (const std::int64_t id : ids)
      copy_row(table, columns, id);
  }

  /// A running run keeps its process, so that it does not read as interrupted.
  Place process_of(const Run& run) {
    if (!run.process)
      return std::nullopt;
    SQLite::Statement find(database_, "SELECT main.process.id FROM main.process JOIN old.process "
                                      "USING (host, boot, pid, started) WHERE old.process.id = ?");
    find.bind(1, *run.process);
    if (const Place there = first_integer(find))
      return there;
    SQLite::Statement insert(database_, "INSERT INTO main.process (host, boot, pid, started) "
                                        "SELECT host, boot, pid, started FROM old.process WHERE id = ?");
    insert.bind(1, *run.process);
    execute(insert);
    return database_.getLastInsertRowid();
  }

  void add(const Run& run, Salvage& salvage) {
    SQLite::Statement insert(database_, fmt::format("INSERT INTO main.run (id, process, sweep, {0}) SELECT iif(EXISTS "
                                                    "(SELECT 1 FROM main.run WHERE id = ?1), NULL, id), ?2, ?3, {0} "
                                                    "FROM old.run WHERE id = ?1",
                                                    run_columns()));
    insert.bind(1, run.id);
    bind_integer(insert, 2, process_of(run));
    bind_integer(insert, 3, run.sweep ? Place(copy_row("sweep", "created, spec", *run.sweep)) : std::nullopt);
    execute(insert);
    const std::int64_t id = database_.getLastInsertRowid();
    copy_records(run.id, id);
    insert_rows("command", "run", "created, verb, detail, taken", run.id, id);
    ++salvage.added;
    if (id != run.id)
      salvage.renumbered.emplace_back(run.id, id);
  }

  /// Whether the old files had more of a run that is in both.
  bool complete(const Run& run, std::int64_t id) {
    if (!has_more(run.id, id))
      return false;
    SQLite::Statement update(database_, fmt::format("UPDATE main.run SET (process, {0}) = (SELECT ?3, {0} FROM old.run "
                                                    "WHERE id = ?1) WHERE id = ?2",
                                                    run_columns()));
    update.bind(1, run.id);
    update.bind(2, id);
    bind_integer(update, 3, process_of(run));
    execute(update);
    for (const char* table : {"event", "frame"}) { // deleting a frame deletes its series and chunks
      SQLite::Statement remove(database_, fmt::format("DELETE FROM main.{} WHERE run = ?", table));
      remove.bind(1, id);
      execute(remove);
    }
    copy_records(run.id, id);
    return true;
  }

  bool has_more(std::int64_t old_id, std::int64_t id) {
    const auto size = [&](const char* schema, std::int64_t run) {
      SQLite::Statement query(
          database_, fmt::format("SELECT (SELECT coalesce(sum(n), 0) FROM {0}.series WHERE run = ?1), "
                                 "(SELECT count(*) FROM {0}.event WHERE run = ?1), "
                                 "status NOT IN ('running', 'queued', 'interrupted'), "
                                 "name || char(0) || note || char(0) || coalesce(deleted, '') || char(0) || tags "
                                 "FROM {0}.run WHERE id = ?1",
                                 schema));
      query.bind(1, run);
      query.executeStep();
      return std::tuple(query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), query.getColumn(2).getInt(),
                        query.getColumn(3).getString());
    };
    const auto [old_points, old_events, old_over, old_texts] = size("old", old_id);
    const auto [points, events, over, texts] = size("main", id);
    if (points > old_points || events > old_events || over > old_over)
      return false;
    return old_points > points || old_events > events || old_over > over || old_texts != texts;
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
    std::vector<std::int64_t> ids;
    SQLite::Statement query(database_, fmt::format("SELECT id FROM old.{} WHERE {} = ? ORDER BY id", table, parent));
    query.bind(1, id);
    while (query.executeStep())
      ids.push_back(query.getColumn(0).getInt64());
    return ids;
  }

  template <typename... Values> std::int64_t insert_row(const char* text, Values... values) {
    SQLite::Statement insert(database_, text);
    int index = 0;
    (insert.bind(++index, values), ...);
    execute(insert);
    return database_.getLastInsertRowid();
  }

  /// Copies the rows of a parent to its counterpart in `main`.
  void insert_rows(const char* table, const char* parent, const char* columns, std::int64_t old_id, std::int64_t id,
                   const char* order = "id") {
    SQLite::Statement insert(database_, fmt::format("INSERT INTO main.{0} ({1}, {2}) SELECT ?1, {2} FROM old.{0} "
                                                    "WHERE {1} = ?2 ORDER BY {3}",
                                                    table, parent, columns, order));
    insert.bind(1, id);
    insert.bind(2, old_id);
    execute(insert);
  }

  SQLite::Database& database_;
};

} // namespace

std::string to_string(const Salvage& salvage, const fs::path& file, const fs::path& saved) {
  std::string text = fmt::format("{}: its files were replaced by another program; ", file.string());
  const std::int64_t written = salvage.added + salvage.completed;
  text += written == 0 ? std::string("nothing was lost")
                       : fmt::format("{} run{} of the old files {} copied to the new ones, so nothing was lost",
                                     written, written == 1 ? "" : "s", written == 1 ? "was" : "were");
  for (const auto& [before, now] : salvage.renumbered)
    text += fmt::format("; run {} is now run {}", before, now);
  if (salvage.left > 0)
    text += fmt::format("; the new file is a different database; {} run{} of the old database {} saved to {}",
                        salvage.left, salvage.left == 1 ? "" : "s", salvage.left == 1 ? "was" : "were", saved.string());
  return text;
}

fs::path save_view(SQLite::Database& old, const fs::path& file) {
  const fs::path saved = free_name(file);
  old.exec("PRAGMA query_only = OFF"); // for a reader, which is closed after this
  try {
    SQLite::Statement copy(old, "VACUUM INTO ?");
    copy.bind(1, saved.string());
    copy.exec();
    return saved;
  } catch (const SQLite::Exception&) {
    std::error_code none;
    fs::remove(saved, none);
    throw;
  }
}

Salvage write_view(const fs::path& saved, SQLite::Database& database) {
  SQLite::Statement attach(database, "ATTACH ? AS old");
  attach.bind(1, saved.string());
  attach.exec();
  set_durability(database, Durability::status);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // A database without runs was just created because the old one is gone: it takes over its identity.
  if (database.execAndGet("SELECT count(*) FROM main.run").getInt64() == 0)
    database.exec("UPDATE main.identity SET uid = (SELECT uid FROM old.identity)");
  const bool same =
      database.execAndGet("SELECT main.identity.uid = old.identity.uid FROM main.identity, old.identity").getInt() == 1;
  const Salvage salvage = Merge(database).run(!same);
  transaction.commit();
  return salvage;
}

} // namespace batchscope::store::detail
