#pragma once

#include <cstdint>
#include <filesystem>

namespace batchscope::bench {

/// How fast records of a run reach the database. A point is one value of one series at one step.
struct StoreRate {
  double write_points_per_second = 0; ///< from the first push until everything is stored, on one run
  double push_nanoseconds = 0;        ///< that one record costs the loop
  double read_milliseconds = 0;       ///< to read one whole series
  double bytes_per_point = 0;         ///< of the closed database
  std::int64_t points = 0;
};

/// Writes a run of `steps` steps, as fast as it can, to a database in `folder`, reads one series and removes it.
StoreRate measure_store(const std::filesystem::path& folder, std::int64_t steps);

} // namespace batchscope::bench
