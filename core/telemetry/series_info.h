#pragma once

#include <string>
#include <vector>

namespace batchscope::telemetry {

/// A recorded series that this program names.
struct SeriesInfo {
  std::string name;   ///< in the database and in files
  bool in_csv = true; ///< whether `export --format csv` always has a column for it
};

/// The series of StepRecord (in the order of step_series()) and those of events.
const std::vector<SeriesInfo>& known_series();
/// Whether known_series() has it. All others are of other programs, or recorded without a place of their own.
bool is_known_series(const std::string& name);

} // namespace batchscope::telemetry
