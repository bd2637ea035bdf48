#include "ui/plot/detail/y_fit.h"

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

namespace {

constexpr double room = 0.08;  ///< above the values, relative to their height
constexpr double foot = 0.03;  ///< below zero, so that a line at zero is visible
constexpr double least = 0.55; ///< fraction of its height that an axis has to use to be kept

Range fitted_places(Range wanted, bool from_zero) {
  auto [low, high] = wanted;
  if (from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  double height = high - low;
  if (!(height > 0)) {
    height = low == 0 ? 1 : std::abs(low) * 0.2;
    high += from_zero ? height : height / 2;
    low -= from_zero ? 0 : height / 2;
  }
  return {low - (from_zero && low == 0 ? foot : room) * height, high + room * height};
}

} // namespace

Range fitted(const std::optional<Range>& wanted, const Range& present, const FitRules& rules) {
  if (!wanted)
    return rules.keep ? present : rules.log ? Range(0.1, 10) : fitted_places({0, 1}, true);
  const bool from_zero = rules.from_zero && !rules.log;
  Range places(to_place(wanted->first, rules.log), to_place(wanted->second, rules.log));
  if (rules.log && places.first == places.second)
    places = {places.first - 1, places.second + 1};
  const Range ideal = fitted_places(places, from_zero);
  if (rules.keep && (!rules.log || present.first > 0)) {
    const Range now(to_place(present.first, rules.log), to_place(present.second, rules.log));
    const bool holds = now.first <= places.first && now.second >= places.second &&
                       (!from_zero || now.first <= std::min(0.0, places.first));
    if (holds && ideal.second - ideal.first >= least * (now.second - now.first))
      return present;
  }
  return {to_value(ideal.first, rules.log), to_value(ideal.second, rules.log)};
}

} // namespace batchscope::ui
