#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/series_reader.h"
#include "core/telemetry/record.h"

namespace batchscope::store::detail {

/// Consecutive points of a frame, with all its series.
struct FramePoints {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<double>> values; ///< values[k][i]: of the k-th series at steps[i]
};

/// A frame as it is in the database.
struct StoredFrame {
  std::vector<SeriesRow> series;  ///< in the order of their positions
  std::vector<std::size_t> index; ///< of each in telemetry::step_series(); its size for other series
  std::int64_t points = 0;

  const std::string& name() const { return series.front().name; }
  /// Sets what the frame has at its i-th point.
  void set(telemetry::StepRecord& record, const FramePoints& points, std::size_t i) const;
};

/// All frames of a run, in the order of their creation.
std::vector<StoredFrame> frames_of(SQLite::Database& database, std::int64_t run);
/// Whether it has series of telemetry::step_series().
bool holds_records(const StoredFrame& frame);

/// New points of a series that is not stored with the records.
struct Points {
  const std::string* name;
  std::vector<Point> points;
  std::size_t given = 0;
};
/// Combines the values of one step into one event, unless a series has two values there. Each series keeps its order,
/// even if its steps go backwards.
std::vector<telemetry::Event> as_events(std::vector<Points> all);
/// Merges two ordered lists; entries of the same step stay as close together as their order allows.
std::vector<telemetry::Event> merged(std::vector<telemetry::Event> happened, std::vector<telemetry::Event> values);

} // namespace batchscope::store::detail
