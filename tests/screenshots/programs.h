#pragma once

#include "tests/screenshots/photographer.h"

namespace batchscope::ui::pictures {

/// Everything that the window shows of training programs of the user's own: forms, tests, runs under way, finished,
/// failed and adopted, a search and a sweep. `folder` is for their files.
void take_programs(Workbench& bench, Photographer& photographer, const QString& folder);

/// The example that knows nothing of BatchScope, whose plan is dragged while it trains. Needs the Python named by
/// BATCHSCOPE_TEST_PYTHON.
void take_unchanged_loop(Workbench& bench, Photographer& photographer, const QString& python);

} // namespace batchscope::ui::pictures
