#pragma once

#include "tests/screenshots/photographer.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui::pictures {

/// The page "Will it fit?" with each kind of question; of a program only with BATCHSCOPE_TEST_PYTHON.
void take_fit_page(Workbench& bench, Photographer& photographer, const QString& folder);

} // namespace batchscope::ui::pictures
