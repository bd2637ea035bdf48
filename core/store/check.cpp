#include "core/store/detail/check.h"

#include <functional>
#include <optional>

#include <fmt/format.h>

#include "core/store/detail/series_reader.h"

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

std::vector<std::string> check_quickly(SQLite::Database& database) {
  Lines lines;
  part("database", lines, [&] {
    SQLite::Statement query(database, "PRAGMA quick_check(10)");
    while (query.executeStep())
      if (const std::string line = query.getColumn(0); line != "ok")
        lines.push_back("database: " + line);
  });
  return lines;
}

std::vector<Ledger::Run> stored_runs(SQLite::Database& database) {
  std::vector<Ledger::Run> runs;
  SQLite::Statement query(database,
                          "SELECT uid, id, (SELECT coalesce(sum(n), 0) FROM series WHERE series.run = run.id) "
                          "FROM run ORDER BY id");
  while (query.executeStep())
    runs.push_back({query.getColumn(0), query.getColumn(1).getInt64(), query.getColumn(2).getInt64()});
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
  std::vector<SeriesRow> all;
  part("table series", lines, [&] { all = read_series_rows(database, std::nullopt); });
  for (const SeriesRow& series : all)
    part(fmt::format("run {}: series {}", series.run, series.name), lines,
         [&] { check_series(database, series, lines); });
  return lines;
}

} // namespace batchscope::store::detail
