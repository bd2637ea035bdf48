#pragma once

#include <utility>

namespace batchscope::ui {

using Range = std::pair<double, double>;

} // namespace batchscope::ui
