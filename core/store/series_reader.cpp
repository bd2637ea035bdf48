#include "core/store/detail/series_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/store/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::size_t bytes(const SQLite::Column& column) {
  return static_cast<std::size_t>(column.getBytes());
}

bool intact(const SQLite::Column& data, const SQLite::Column& crc) {
  return checksum(data.getBlob(), bytes(data)) == static_cast<std::uint32_t>(crc.getInt64());
}

// Columns of a row of sealed points, as selected below.
enum ChunkColumn { first, n, min, max, crc, data, step_n, first_step, last_step, step_crc, step_data };

std::optional<std::vector<std::int64_t>> chunk_steps(SQLite::Statement& row, const Complaint& complain) {
  if (row.getColumn(step_n).isNull()) {
    complain("have no steps");
    return std::nullopt;
  }
  const SQLite::Column packed = row.getColumn(step_data);
  const std::int64_t count = row.getColumn(n).getInt64();
  auto steps = unpacked_steps(packed.getBlob(), bytes(packed), static_cast<std::size_t>(count),
                              row.getColumn(first_step).getInt64());
  const bool right = intact(packed, row.getColumn(step_crc)) && row.getColumn(step_n).getInt64() == count && steps &&
                     !steps->empty() && steps->front() == row.getColumn(first_step).getInt64() &&
                     steps->back() == row.getColumn(last_step).getInt64();
  if (right)
    return steps;
  complain("have damaged steps");
  return std::nullopt;
}

std::optional<std::vector<double>> chunk_values(SQLite::Statement& row, const Complaint& complain) {
  const SQLite::Column packed = row.getColumn(data);
  auto values = unpacked_values(packed.getBlob(), bytes(packed), static_cast<std::size_t>(row.getColumn(n).getInt64()));
  if (values && intact(packed, row.getColumn(crc)))
    return values;
  complain("have damaged values (checksum)");
  return std::nullopt;
}

void check_bounds(SQLite::Statement& row, const std::vector<double>& values, const Complaint& complain) {
  Summary found;
  for (const double value : values)
    found.add(0, value);
  Summary said = found;
  said.min = real(row.getColumn(min));
  said.max = real(row.getColumn(max));
  if (!(found == said))
    complain("have another smallest or greatest value than their chunk says");
}

std::int64_t read_sealed(SQLite::Database& database, const SeriesRow& series, const Complaint& complain,
                         std::vector<Point>& points) {
  SQLite::Statement query(database,
                          "SELECT v.first, v.n, v.min, v.max, v.crc, v.data, s.n, s.first_step, s.last_step, s.crc, "
                          "s.data FROM value_chunk v LEFT JOIN step_chunk s ON s.frame = ?2 AND s.first = v.first "
                          "WHERE v.series = ?1 ORDER BY v.first");
  query.bind(1, series.id);
  query.bind(2, series.frame);
  std::int64_t next = 0;
  while (query.executeStep()) {
    const std::int64_t begin = query.getColumn(first).getInt64();
    const std::int64_t end = begin + query.getColumn(n).getInt64();
    const Complaint here = [&](const std::string& what) {
      complain(fmt::format("points {} to {} {}", begin, end - 1, what));
    };
    if (begin != next)
      complain(fmt::format("points {} to {} are missing", next, begin - 1));
    next = end;
    const auto steps = chunk_steps(query, here);
    const auto values = chunk_values(query, here);
    if (!steps || !values)
      continue;
    check_bounds(query, *values, here);
    for (std::size_t i = 0; i < values->size(); ++i)
      points.push_back({.step = (*steps)[i], .value = (*values)[i]});
  }
  return next;
}

void read_tail(SQLite::Database& database, const SeriesRow& series, std::int64_t next, const Complaint& complain,
               std::vector<Point>& points) {
  SQLite::Statement query(database, "SELECT number, crc, data FROM tail WHERE frame = ? ORDER BY number");
  query.bind(1, series.frame);
  for (; query.executeStep(); ++next) {
    const std::int64_t number = query.getColumn(0).getInt64();
    const SQLite::Column packed = query.getColumn(2);
    const auto row = unpacked_row(packed.getBlob(), bytes(packed));
    if (number != next)
      complain(fmt::format("points {} to {} are missing", next, number - 1));
    next = number;
    if (!row || !intact(packed, query.getColumn(1)) || series.position >= row->values.size())
      complain(fmt::format("point {} is damaged (checksum)", number));
    else
      points.push_back({.step = row->step, .value = row->values[series.position]});
  }
}

} // namespace

std::vector<SeriesRow> read_series_rows(SQLite::Database& database, std::optional<std::int64_t> run) {
  SQLite::Statement query(database, "SELECT id, run, frame, position, name, n, last_step, last, min, max FROM series "
                                    "WHERE ?1 IS NULL OR run = ?1 ORDER BY run, id");
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

std::vector<Point> read_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain) {
  std::vector<Point> points;
  // A hint only, and one that a damaged file must not turn into a huge allocation.
  constexpr std::int64_t most_reserved = 1 << 24;
  if (series.summary.count > 0)
    points.reserve(static_cast<std::size_t>(std::min(series.summary.count, most_reserved)));
  const std::int64_t sealed = read_sealed(database, series, complain, points);
  read_tail(database, series, sealed, complain, points);
  return points;
}

} // namespace batchscope::store::detail
