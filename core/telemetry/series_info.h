#pragma once

#include <string>
#include <vector>

#include "core/telemetry/outcome_fields.h"

namespace batchscope::telemetry {

/// Metadata of a recorded series, for tables, plots and files.
struct SeriesInfo {
  std::string name;  ///< in the database and in files
  std::string title; ///< in tables and plots, English: "gradient norm"
  ValueKind kind = ValueKind::number;
  bool in_csv = true; ///< whether `export --format csv` has a column for it
};

/// The series of StepRecord (in the order of step_series()) and those of events.
const std::vector<SeriesInfo>& known_series();
/// Of a series that is not known: its name, any number, with a column.
SeriesInfo series_info(const std::string& name);

} // namespace batchscope::telemetry
