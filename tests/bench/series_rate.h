#pragma once

#include <cstdint>

namespace batchscope::bench {

/// How fast runs in memory grow and are drawn, on several noisy series of one run.
struct SeriesRate {
  double append_nanoseconds = 0;          ///< of one value of a series
  double slowest_append_microseconds = 0; ///< of one value of all series, the processor taken away included
  double record_nanoseconds = 0;          ///< of one record of a run, all its series
  double record_bytes = 0;                ///< of memory that such a record takes
  double first_milliseconds = 0;    ///< to sample all points of one series for the first time: median over the series
  double out_milliseconds = 0;      ///< the same again
  double half_milliseconds = 0;     ///< half of the points
  double in_milliseconds = 0;       ///< 2,000 points
  double plan_seconds = 0;          ///< make_plan for 1,000,000 steps of a schedule that grows
  double restless_plan_seconds = 0; ///< the same for one that changes at every step
};

SeriesRate measure_series(int series, std::int64_t points, int pixels);

} // namespace batchscope::bench
