#pragma once

#include <QString>

#include <vector>

#include "ui/plan/plan_editor.h"

namespace batchscope::ui {

/// Id of the handle with which the line of the memory budget is dragged; its y is in MB. Names of stretches are
/// never negative.
inline constexpr std::int64_t limit_handle = -1;

/// The label of that line. `run` may be null; see OpenRun::reads_whole_process().
QString budget_label(double bytes, const OpenRun* run);
/// The label of its handle while it is dragged; %1 stands for the budget.
QString budget_handle_label();

/// A stretch of the plan that can be dragged, as drawn.
struct PlanStretch {
  std::int64_t name = 0;         ///< for PlanEditor::drag()
  std::int64_t from = 1, to = 1; ///< first step, and the step where the next stretch begins or the plan ends
  std::int64_t batch = 1;
  std::int64_t highest = 1; ///< largest useful size: number of examples, or the run's limit
  bool good = true;         ///< it fits, in no more micro batches than the run has used so far
  QString label;            ///< its size, and how it will be split
};

/// The stretches of the edited plan that can be dragged; none if the run has ended. UI thread.
std::vector<PlanStretch> plan_stretches(const PlanEditor& editor);

} // namespace batchscope::ui
