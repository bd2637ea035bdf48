#include "core/store/detail/check.h"

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include "core/base/lookout.h"
#include "core/store/detail/series_reader.h"
#include "core/store/file/detail/migrations.h"
#include "core/store/file/detail/row_checks.h"

namespace batchscope::store::detail {

namespace {

using Lines = std::vector<std::string>;

void check_integrity(SQLite::Database& database, Lines& lines) {
  SQLite::Statement query(database, "PRAGMA integrity_check(100)");
  while (query.executeStep()) {
    const std::string line = query.getColumn(0);
    if (line != "ok")
      lines.push_back("database: " + line);
  }
}

void check_references(SQLite::Database& database, Lines& lines) {
  SQLite::Statement query(database, "PRAGMA foreign_key_check");
  while (query.executeStep())
    lines.push_back(fmt::format("table {}: row {} refers to a missing row of {}", query.getColumn(0).getString(),
                                query.getColumn(1).getInt64(), query.getColumn(2).getString()));
}

/// Tables, columns, indexes and triggers, one text each.
std::set<std::string> objects_of(SQLite::Database& database) {
  std::set<std::string> objects;
  for (const char* text : {
           "SELECT 'table ' || t.name, c.* FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c WHERE t.type = "
           "'table' AND t.name NOT LIKE 'sqlite_%'",
           "SELECT 'table ' || t.name, l.strict, l.wr FROM sqlite_schema t JOIN pragma_table_list(t.name) l WHERE "
           "t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
           "SELECT 'table ' || t.name, f.* FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = "
           "'table'",
           "SELECT 'index ' || i.name, i.tbl_name, c.* FROM sqlite_schema i JOIN pragma_index_xinfo(i.name) c WHERE "
           "i.type = 'index'",
           "SELECT 'trigger ' || name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'",
       }) {
    SQLite::Statement query(database, text);
    while (query.executeStep()) {
      std::string object;
      for (int column = 0; column < query.getColumnCount(); ++column)
        object += query.getColumn(column).getString() + '\n';
      objects.insert(object);
    }
  }
  return objects;
}

/// The schema must be what the migrations make.
void check_schema(SQLite::Database& database, Lines& lines) {
  SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const std::string_view step : embedded_migrations())
    fresh.exec(std::string(step));
  const auto expected = objects_of(fresh);
  const auto found = objects_of(database);
  std::set<std::string> names;
  for (const auto* objects : {&expected, &found})
    for (const std::string& object : *objects)
      if (!expected.contains(object) || !found.contains(object))
        names.insert(object.substr(0, object.find('\n')));
  for (const std::string& name : names)
    lines.push_back("schema: " + name + " is damaged");
}

void check_rows(SQLite::Database& database, const CheckedTable& table, Lines& lines) {
  for (const DamagedRow& row : damaged_rows(database, table)) {
    const std::string name =
        table.name == "run" ? fmt::format("run {}", row.row) : fmt::format("table {}: row {}", table.name, row.row);
    lines.push_back(row.columns.empty() ? name + ": its checksums are missing"
                                        : fmt::format("{}: {} damaged (checksum)", name, fmt::join(row.columns, ", ")));
  }
}

void check_frames(SQLite::Database& database, Lines& lines) {
  SQLite::Statement query(database, "SELECT frame.id FROM frame LEFT JOIN series ON series.frame = frame.id "
                                    "WHERE series.run IS NOT frame.run GROUP BY frame.id ORDER BY frame.id");
  while (query.executeStep())
    lines.push_back(
        fmt::format("table frame: row {} is damaged: its series are of another run", query.getColumn(0).getInt64()));
}

void check_series(SQLite::Database& database, const SeriesRow& series, Lines& lines) {
  const auto complain = [&](const std::string& what) {
    lines.push_back(fmt::format("run {}: series {}: {}", series.run, series.name, what));
  };
  const std::size_t before = lines.size();
  Summary found;
  for (const Point& point : read_points(database, series, complain))
    found.add(point.step, point.value);
  if (found.count != series.summary.count)
    complain(fmt::format("{} points instead of {}", found.count, series.summary.count));
  else if (lines.size() == before && !(found == series.summary))
    complain("its summary does not match its points");
}

// A page that cannot be read ends one part of the check, not all of it.
void part(const std::string& name, Lines& lines, const std::function<void()>& check) {
  try {
    check();
  } catch (const SQLite::Exception& exception) {
    lines.push_back(name + ": cannot be read: " + exception.what());
  }
}

} // namespace

std::vector<std::string> check_quickly(SQLite::Database& database, const std::function<bool()>& stop) {
  Lines lines;
  // SQLite's progress handler is not called while a check goes through a table, however large.
  std::optional<Lookout> lookout;
  if (stop)
    lookout.emplace([&stop, handle = database.getHandle()] {
      if (stop())
        sqlite3_interrupt(handle);
    });
  part("database", lines, [&] {
    SQLite::Statement query(database, "PRAGMA quick_check(10)");
    while (query.executeStep())
      if (const std::string line = query.getColumn(0); line != "ok")
        lines.push_back("database: " + line);
  });
  return stop && stop() ? Lines() : lines;
}

std::vector<Ledger::Run> stored_runs(SQLite::Database& database) {
  std::unordered_map<std::int64_t, std::int64_t> points;
  SQLite::Statement series(database, "SELECT run, n FROM series"); // in the order of the file: an index would be slower
  while (series.executeStep())
    points[series.getColumn(0).getInt64()] += series.getColumn(1).getInt64();
  std::vector<Ledger::Run> runs;
  SQLite::Statement query(database, "SELECT uid, id FROM run ORDER BY id");
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(1).getInt64();
    runs.push_back({query.getColumn(0), id, points[id]});
  }
  return runs;
}

std::vector<std::string> missing_runs(SQLite::Database& database, const std::filesystem::path& file) {
  const Ledger ledger(file, database.execAndGet("SELECT uid FROM identity").getString());
  auto expected = ledger.read(); // before the database, which may go on growing
  Lines lines;
  part("table run", lines, [&] {
    for (const Ledger::Run& run : stored_runs(database)) {
      if (const auto entry = expected.find(run.uid); entry != expected.end() && entry->second.points > run.points)
        lines.push_back(fmt::format("run {}: {} of {} stored points are missing", run.id,
                                    entry->second.points - run.points, entry->second.points));
      expected.erase(run.uid);
    }
    const auto now = expected.empty() ? expected : ledger.read();
    for (const auto& [uid, run] : expected)
      if (now.contains(uid)) // not purged meanwhile
        lines.push_back(fmt::format("run {}: missing; it was stored with {} points", run.id, run.points));
  });
  if (!lines.empty())
    lines.push_back(fmt::format("{}-ledger lists what was stored; restore a backup, or accept the current runs as "
                                "complete with `batchscope-cli check --accept`",
                                file.string()));
  return lines;
}

std::vector<std::string> check(SQLite::Database& database) {
  Lines lines;
  part("database", lines, [&] { check_integrity(database, lines); });
  part("references", lines, [&] { check_references(database, lines); });
  part("schema", lines, [&] { check_schema(database, lines); });
  std::vector<CheckedTable> tables;
  part("schema", lines, [&] { tables = checked_tables(database); });
  for (const CheckedTable& table : tables)
    part("table " + table.name, lines, [&] { check_rows(database, table, lines); });
  part("table frame", lines, [&] { check_frames(database, lines); });
  std::vector<SeriesRow> all;
  part("table series", lines, [&] { all = read_series_rows(database, std::nullopt); });
  for (const SeriesRow& series : all)
    part(fmt::format("run {}: series {}", series.run, series.name), lines,
         [&] { check_series(database, series, lines); });
  return lines;
}

} // namespace batchscope::store::detail
