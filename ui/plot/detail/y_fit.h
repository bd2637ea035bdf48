#pragma once

#include <optional>

#include "ui/plot/detail/view.h"

namespace batchscope::ui {

struct FitRules {
  bool from_zero = true;
  bool log = false;
  /// Keeps the present range while it serves, so that the axis does not jump at each refresh.
  bool keep = true;
};

/// The y axis for values within `wanted`, with some room around them. `present` is what is shown now.
Range fitted(const std::optional<Range>& wanted, const Range& present, const FitRules& rules);

} // namespace batchscope::ui
