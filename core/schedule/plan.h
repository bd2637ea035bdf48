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

/// A change of the schedule, or of the shares, and the step boundary at which it applies.
struct PlanEdit {
  std::int64_t after_step = 0; ///< steps done then; in ascending order; ignored beyond the end of the run
  std::string schedule;
  std::optional<std::int64_t> batch;
  std::optional<std::string> shares{}; ///< of the data streams, instead of schedule and batch
};

struct PlanRequest {
  ProgressionOptions options;
  std::vector<PlanEdit> edits;
  std::int64_t outline_from = 1;       ///< first step that the outline covers
  std::size_t max_segments = 24;       ///< of the outline, at least 1
  std::int64_t max_steps = 20'000'000; ///< longer plans are cut there, see Plan::cut
};

/// The plan of a whole run, ready to be plotted like a run. The history has one record per step with step,
/// examples_seen, epoch_index, epoch, train_coverage, batch, accumulate, effective_batch and learning_rate; all else is
/// NaN or 0. Immutable.
struct Plan {
  std::shared_ptr<const series::History> history;
  std::vector<PlanSegment> outline;
  std::vector<ScheduleEvent> events; ///< clamps and problems, the first 1,000
  std::int64_t steps = 0;
  std::int64_t examples = 0;
  double epochs = 0;
  bool cut = false;            ///< longer than max_steps
  double estimated_steps = 0;  ///< estimated steps of the whole plan, if it is cut
  bool needs_feedback = false; ///< the schedule uses measured values, so the plan ends after `steps`
};

/// Computes the plan exactly as the training loop will run it. `cancelled` is called periodically; if it returns true,
/// the result is nothing. Throws Error (input) as Progression does, also for the edits. Any thread.
std::optional<Plan> make_plan(const PlanRequest& request, const std::function<bool()>& cancelled = {});

/// Replaces the batch sizes of some steps of a plan. The changes lie within the stretches, do not overlap and are in
/// order, as the stretches are.
std::vector<PlanSegment> with_changes(const std::vector<PlanSegment>& stretches,
                                      const std::vector<PlanSegment>& changes);

/// The piecewise schedule for the segments, as an edit after `after_step` steps (0: before the run) with the batch of
/// the first segment. The segments begin with step `after_step` + 1. Neighbours of equal size are merged. The batch
/// stays constant after the last segment, and throughout if there are none. Learning rate stages (adabatch) are lost.
/// If tails are dropped and the plan ends because the next size is larger than the tail, the piecewise schedule goes on
/// with the tail.
std::string piecewise_text(const std::vector<PlanSegment>& segments, std::int64_t after_step);

} // namespace batchscope::schedule
