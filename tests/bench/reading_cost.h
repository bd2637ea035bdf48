#pragma once

#include <cstdint>
#include <filesystem>

namespace batchscope::bench {

/// What it costs the window to stay up to date with a database.
struct ReadingCost {
  double whole_list_milliseconds = 0; ///< all of the runs
  double change_milliseconds = 0;     ///< of one of them, by RunReader::changes()
  double nothing_milliseconds = 0;    ///< a look that finds nothing new
  double wide_run_milliseconds = 0;   ///< to follow a stored run with `series` more series from its beginning
  std::uint64_t chunks = 0;           ///< that it is stored in
  std::uint64_t chunks_read = 0;      ///< that were taken apart for that
};

/// With so many runs, and a run of `steps` steps that reports `series` metrics at every tenth.
ReadingCost measure_reading(const std::filesystem::path& folder, int runs, int series, std::int64_t steps);

} // namespace batchscope::bench
