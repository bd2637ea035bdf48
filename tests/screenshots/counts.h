#pragma once

#include <cstdint>

#include "tests/screenshots/photographer.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui::pictures {

/// Pages that list or draw runs, filled with `count` made ones of 6 batch sizes, 2 learning rates and as many seeds as
/// it takes: the list, these runs plotted and compared, and the advice on them. In a database without runs.
void take_counts(Workbench& bench, Photographer& photographer, std::int64_t count);

} // namespace batchscope::ui::pictures
