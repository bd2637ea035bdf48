#include "core/store/detail/series_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::size_t bytes(const SQLite::Column& column) {
  return static_cast<std::size_t>(column.getBytes());
}

bool intact(const SQLite::Column& data, const SQLite::Column& crc) {
  return checksum(data.getBlob(), bytes(data)) == static_cast<std::uint32_t>(crc.getInt64());
}

// Columns of a row of sealed points as selected below: those of the values, then those of the steps.
enum ChunkColumn { first, min, max, values_at, steps_at = values_at + 3 };

void check_bounds(SQLite::Statement& row, const std::vector<double>& values, const Complaint& complain) {
  Summary found;
  for (const double value : values)
    found.add(0, value);
  Summary said = found;
  said.min = real(row.getColumn(min));
  said.max = real(row.getColumn(max));
  if (!(found == said))
    complain("have a minimum or maximum other than their chunk says");
}

std::int64_t read_sealed(SQLite::Database& database, const SeriesRow& series, const Complaint& complain,
                         const PointVisitor& visit) {
  auto query =
      prepare(database,
              "SELECT v.first, v.min, v.max, v.n, v.crc, v.data, s.n, s.first_step, s.last_step, s.crc, s.data "
              "FROM value_chunk v LEFT JOIN step_chunk s ON s.frame = ?2 AND s.first = v.first "
              "WHERE v.series = ?1 ORDER BY v.first",
              series.id, series.frame);
  std::int64_t next = 0;
  while (query.executeStep()) {
    const std::int64_t begin = query.getColumn(first).getInt64();
    const std::int64_t end = begin + query.getColumn(values_at).getInt64();
    const Complaint here = [&](const std::string& what) {
      complain(fmt::format("points {} to {} {}", begin, end - 1, what));
    };
    if (begin != next)
      complain(fmt::format("points {} to {} are missing", next, begin - 1));
    next = end;
    const bool has_steps = !query.getColumn(steps_at).isNull();
    const auto steps = has_steps ? sealed_steps(query, steps_at) : std::nullopt;
    const auto values = sealed_values(query, values_at);
    if (!has_steps)
      here("have no steps");
    else if (!steps || (values && values->size() != steps->size()))
      here("have damaged steps");
    if (!values)
      here("have damaged values (checksum)");
    if (!steps || !values || values->size() != steps->size())
      continue;
    check_bounds(query, *values, here);
    for (std::size_t i = 0; i < values->size(); ++i)
      visit({.step = (*steps)[i], .value = (*values)[i]});
  }
  return next;
}

void read_tail(SQLite::Database& database, const SeriesRow& series, std::int64_t next, const Complaint& complain,
               const PointVisitor& visit) {
  auto query = prepare(database, "SELECT number, crc, data FROM tail WHERE frame = ? ORDER BY number", series.frame);
  for (; query.executeStep(); ++next) {
    const std::int64_t number = query.getColumn(0).getInt64();
    const auto row = unsealed_row(query, 1);
    if (number != next)
      complain(fmt::format("points {} to {} are missing", next, number - 1));
    next = number;
    if (!row || series.position >= row->values.size())
      complain(fmt::format("point {} is damaged (checksum)", number));
    else
      visit({.step = row->step, .value = row->values[series.position]});
  }
}

} // namespace

std::optional<std::vector<std::int64_t>> sealed_steps(SQLite::Statement& row, int at) {
  const SQLite::Column packed = row.getColumn(at + 4);
  const std::int64_t first_step = row.getColumn(at + 1).getInt64();
  auto steps = unpacked_steps(packed.getBlob(), bytes(packed), static_cast<std::size_t>(row.getColumn(at).getInt64()),
                              first_step);
  const bool right = intact(packed, row.getColumn(at + 3)) && steps && !steps->empty() &&
                     steps->front() == first_step && steps->back() == row.getColumn(at + 2).getInt64();
  return right ? steps : std::nullopt;
}

std::optional<std::vector<double>> sealed_values(SQLite::Statement& row, int at) {
  const SQLite::Column packed = row.getColumn(at + 2);
  auto values =
      unpacked_values(packed.getBlob(), bytes(packed), static_cast<std::size_t>(row.getColumn(at).getInt64()));
  return intact(packed, row.getColumn(at + 1)) ? values : std::nullopt;
}

std::optional<TailRow> unsealed_row(SQLite::Statement& row, int at) {
  const SQLite::Column packed = row.getColumn(at + 1);
  return intact(packed, row.getColumn(at)) ? unpacked_row(packed.getBlob(), bytes(packed)) : std::nullopt;
}

std::vector<SeriesRow> read_series_rows(SQLite::Database& database, std::optional<std::int64_t> run) {
  // Two queries: with a condition that may hold for all rows, SQLite reads all of them for each run.
  SQLite::Statement query(database,
                          fmt::format("SELECT id, run, frame, position, name, n, last_step, last, min, max FROM series "
                                      "{} ORDER BY run, id",
                                      run ? "WHERE run = ?" : ""));
  if (run)
    query.bind(1, *run);
  std::vector<SeriesRow> rows;
  while (query.executeStep()) {
    SeriesRow row{.id = query.getColumn(0).getInt64(),
                  .run = query.getColumn(1).getInt64(),
                  .frame = query.getColumn(2).getInt64(),
                  .position = static_cast<std::size_t>(query.getColumn(3).getInt64()),
                  .name = query.getColumn(4),
                  .summary = {}};
    row.summary.count = query.getColumn(5).getInt64();
    row.summary.last_step = query.getColumn(6).getInt64();
    row.summary.last = real(query.getColumn(7));
    row.summary.min = real(query.getColumn(8));
    row.summary.max = real(query.getColumn(9));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::map<std::int64_t, std::vector<SeriesRow>> series_by_frame(SQLite::Database& database, std::int64_t run) {
  std::map<std::int64_t, std::vector<SeriesRow>> frames;
  for (SeriesRow& series : read_series_rows(database, run))
    frames[series.frame].push_back(std::move(series));
  for (auto& [id, series] : frames)
    std::sort(series.begin(), series.end(),
              [](const SeriesRow& a, const SeriesRow& b) { return a.position < b.position; });
  return frames;
}

void visit_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain,
                  const PointVisitor& visit) {
  const std::int64_t sealed = read_sealed(database, series, complain, visit);
  read_tail(database, series, sealed, complain, visit);
}

std::vector<Point> read_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain) {
  std::vector<Point> points;
  // Only a hint; a damaged file must not cause a huge allocation.
  constexpr std::int64_t max_reserved = 1 << 24;
  if (series.summary.count > 0)
    points.reserve(static_cast<std::size_t>(std::min(series.summary.count, max_reserved)));
  visit_points(database, series, complain, [&](const Point& point) { points.push_back(point); });
  return points;
}

} // namespace batchscope::store::detail
