#pragma once

#include <cstddef>

namespace batchscope::bench {

/// What comparing many runs costs the window, in milliseconds.
struct CompareCost {
  double columns = 0; ///< making all columns, on a thread in the background
  double answer = 0;  ///< the same
  double axes = 0;    ///< parallel coordinates drawn anew
  double brush = 0;   ///< a step of brushing: marks in all parts and parallel coordinates drawn; the median
  double worst_brush = 0;
  double filter = 0;  ///< a filter applied, with all parts told
  double table = 0;   ///< the table drawn after that
  double scatter = 0; ///< the scatter plot drawn
};

CompareCost measure_compare(std::size_t runs);

} // namespace batchscope::bench
