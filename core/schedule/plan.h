#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/outline.h"
#include "core/schedule/progression.h"
#include "core/series/history.h"

namespace batchscope::schedule {

/// A change of the plan and the step boundary at which it is put in.
struct PlanEdit {
  std::int64_t after_step = 0; ///< steps done then; edits come in this order, those beyond the end have no effect
  std::string schedule;
  std::optional<std::int64_t> batch;
};

struct PlanRequest {
  ProgressionOptions options;
  std::vector<PlanEdit> edits;
  std::int64_t outline_from = 1;        ///< first step that the outline covers
  std::size_t most_segments = 24;       ///< of the outline, at least 1
  std::int64_t most_steps = 20'000'000; ///< a longer plan is cut there, and says so
};

/// A whole training as planned, ready to be drawn like a run: the history has a record a step with step, examples_seen,
/// epoch_index, epoch, train_coverage, batch, accumulate, effective_batch, learning_rate; all else is NaN or 0.
/// Immutable.
struct Plan {
  std::shared_ptr<const series::History> history;
  std::vector<PlanSegment> outline;
  std::vector<ScheduleEvent> events; ///< clamps and problems, the first 1,000 of them
  std::int64_t steps = 0;
  std::int64_t examples = 0;
  double epochs = 0;
  bool cut = false;            ///< longer than most_steps
  double steps_foreseen = 0;   ///< of the whole plan where it is cut, about
  bool needs_feedback = false; ///< the schedule looks at what a run measures: nothing beyond `steps` is planned
};

/// Walks the plan as the training loop will. `cancelled` is asked now and then; true ends it with nothing.
/// Throws Error (input) as Progression does, for its edits too. Any thread.
std::optional<Plan> make_plan(const PlanRequest& request, const std::function<bool()>& cancelled = {});

/// A plan's stretches with other sizes over some of its steps; all else stays as it is. The changes lie within the
/// stretches, do not overlap, and come in order, as the stretches do.
std::vector<PlanSegment> with_changes(const std::vector<PlanSegment>& stretches,
                                      const std::vector<PlanSegment>& changes);

/// Whether a schedule, applied in mid-run with the batch planned for that step, goes on as planned: constant, piecewise
/// and formulas. All others count from the step at which they are applied; `edited:base=` resumes them instead.
bool depends_on_step_only(const std::string& schedule);

/// The piecewise schedule that does what the segments say, for an edit after `after_step` steps (0: before the run)
/// with the batch of the first segment. The segments begin with step `after_step` + 1. Neighbours of one size are put
/// together; no segments at all leave the batch constant, and so do the steps after the last one. A learning rate that
/// goes in stages (adabatch) is not kept; and where tails are dropped, a run that the plan ends because a larger size
/// would be next goes on with the tail.
std::string piecewise_text(const std::vector<PlanSegment>& segments, std::int64_t after_step);

} // namespace batchscope::schedule
