#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/chunk.h"
#include "core/store/run_store.h"

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

/// All series, or those of one run, in the order in which they were made.
std::vector<SeriesRow> read_series_rows(SQLite::Database& database, std::optional<std::int64_t> run);

/// Told of what is wrong with the stored points of a series: which points, and what.
using Complaint = std::function<void(const std::string&)>;

/// All points of a series in order, without those that are damaged, of which `complain` is told.
std::vector<Point> read_points(SQLite::Database& database, const SeriesRow& series, const Complaint& complain);

} // namespace batchscope::store::detail
