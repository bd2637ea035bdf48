#pragma once

#include <QList>

#include "ui/opened_runs/open_run.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// Results of a run that is over. Its last step is seldom a whole batch, and says little of the run. UI thread.
QList<FactList::Fact> run_summary(const OpenRun& run);

} // namespace batchscope::ui
