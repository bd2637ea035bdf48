#pragma once

#include <optional>

#include "ui/plot/detail/view.h"

namespace batchscope::ui {

struct FitRules {
  bool from_zero = true;
  bool log = false;
  /// Keeps the current range while it is suitable, so that the axis does not jump at each refresh.
  bool keep = true;
};

/// The y range for values within `wanted`, with some space around them. `present` is the current range.
Range fitted(const std::optional<Range>& wanted, const Range& present, const FitRules& rules);

} // namespace batchscope::ui
