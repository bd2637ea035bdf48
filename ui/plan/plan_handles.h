#pragma once

#include <QString>

#include <vector>

#include "ui/plan/plan_editor.h"

namespace batchscope::ui {

/// A stretch of the plan as it is drawn to be dragged.
struct PlanStretch {
  std::int64_t name = 0;         ///< for PlanEditor::drag()
  std::int64_t from = 1, to = 1; ///< steps: its first, and where the next one begins or the plan ends
  std::int64_t batch = 1;
  std::int64_t highest = 1; ///< sizes above make no sense: more than there are examples, or than the run may have
  bool good = true;         ///< it fits, in no more parts than the run has known
  QString label;            ///< its size, and how it will be run
};

/// What can be dragged of the plan that is edited: nothing of a run that is over. UI thread.
std::vector<PlanStretch> plan_stretches(const PlanEditor& editor);

} // namespace batchscope::ui
