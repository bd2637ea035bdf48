#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::bench {

/// What 100,000 marks on top of it cost.
struct MarksCost {
  double draw_milliseconds = 0; ///< one refresh
  double add_microseconds = 0;  ///< one more, behind them
};

/// What watching a run costs the thread that shows it.
struct ScreenCost {
  std::vector<double> refresh_milliseconds; ///< sorted
  std::vector<double> late_milliseconds;    ///< by which a timer of 1 ms came late, sorted
  double refreshes_a_second = 0;
  double share_of_core = 0;          ///< of the thread, without the probe's timer
  double crosshair_milliseconds = 0; ///< to move it once: median
  MarksCost marks;
};

/// Four plots of 1200x700 with eight series of `points` points, all of them or the last `visible` in view, while
/// 2,000 more come every second, for `seconds` with the probe and as many without.
ScreenCost measure_screen(std::int64_t points, std::int64_t visible, double seconds);

} // namespace batchscope::bench
