#pragma once

#include <cstdint>
#include <string>

namespace batchscope::bench {

/// One search of the predictive finder, checked by running one size more.
struct FinderRow {
  std::string model;
  std::uint64_t budget = 0;
  std::int64_t largest = 0;
  bool exact = false; ///< largest + 1 really runs out of memory (or is the bound)
  int probes = 0;
  int out_of_memory = 0;
  double worst_error = 0; ///< |predicted / real - 1| over sizes not probed before
  double seconds = 0;
};

FinderRow measure_finder(const std::string& model, const std::string& data, std::uint64_t budget);

} // namespace batchscope::bench
