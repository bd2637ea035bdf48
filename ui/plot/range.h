#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace batchscope::ui {

using Range = std::pair<double, double>;

/// Extends a range to a value, if that is finite.
inline void widen(std::optional<Range>& range, double value) {
  if (std::isfinite(value))
    range = range ? Range(std::min(range->first, value), std::max(range->second, value)) : Range(value, value);
}

/// What the values of an x axis are.
enum class XValues {
  real,
  whole, ///< ticks are integers
  clock  ///< seconds since 1970, shown as the date and time of this place
};

} // namespace batchscope::ui
