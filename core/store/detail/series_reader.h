#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/chunk.h"
#include "core/store/run_row.h"

namespace batchscope::store::detail {

/// A row of the table of series.
struct SeriesRow {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t frame = 0;
  std::size_t position = 0;
  std::string name;
  Summary summary;
};

/// All series, or those of one run, in the order of their creation.
std::vector<SeriesRow> read_series_rows(SQLite::Database& database, std::optional<std::int64_t> run);
/// The series of a run by the numbers of their frames, each frame's in the order of their positions.
std::map<std::int64_t, std::vector<SeriesRow>> series_by_frame(SQLite::Database& database, std::int64_t run);

/// The steps of a row of step_chunk, selected as n, first_step, last_step, crc, data from column `at` on; nothing if
/// the row is damaged.
std::optional<std::vector<std::int64_t>> sealed_steps(SQLite::Statement& row, int at);
/// The same for a row of value_chunk, selected as n, crc, data.
std::optional<std::vector<double>> sealed_values(SQLite::Statement& row, int at);
/// The same for a row of tail, selected as crc, data.
std::optional<TailRow> unsealed_row(SQLite::Statement& row, int at);

/// Receives what is wrong with the stored points of a series: which points, and what.
using Complaint = std::function<void(const std::string&)>;

/// Calls `visit` for all undamaged points of a series in order; reports damaged ones to `complain`.
void visit_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain,
                  const PointVisitor& visit);
/// All undamaged points in order.
std::vector<Point> read_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain);

} // namespace batchscope::store::detail
