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
    lines.push_back(fmt::format("table {}: row {} refers to a row of {} that is not there",
                                query.getColumn(0).getString(), query.getColumn(1).getInt64(),
                                query.getColumn(2).getString()));
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
    complain("its summary is not that of its points");
}

// A page that cannot be read ends one part of the check, not the whole.
void part(const std::string& name, Lines& lines, const std::function<void()>& check) {
  try {
    check();
  } catch (const SQLite::Exception& exception) {
    lines.push_back(name + ": cannot be read: " + exception.what());
  }
}

} // namespace

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
