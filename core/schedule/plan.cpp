#include "core/schedule/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/schedule/planned_record.h"

namespace batchscope::schedule {

namespace {

constexpr std::int64_t steps_between_questions = 4096;
/// Steps of many micro batches take longer, so takes are counted.
constexpr std::size_t takes_between_questions = 1 << 20;
/// A plan with more takes than this in total is cut, like one with too many steps.
constexpr std::size_t max_takes = 100'000'000;
constexpr std::size_t max_events = 1000;

std::int64_t end_of(const PlanSegment& segment) {
  return segment.first_step + segment.steps;
}

/// Adds the part of a segment from step `from` to before `end`.
void add_part(std::vector<PlanSegment>& segments, PlanSegment segment, std::int64_t from, std::int64_t end) {
  if (from >= end)
    return;
  segment.first_step = from;
  segment.steps = end - from;
  segments.push_back(segment);
}

void count(Plan& plan, const PlannedStep& step) {
  plan.steps = step.step;
  plan.examples = step.takes.seen_in_total;
  plan.epochs = step.epoch;
}

} // namespace

std::optional<Plan> make_plan(const PlanRequest& request, const std::function<bool()>& cancelled) {
  Plan plan;
  const auto history = std::make_shared<series::History>();
  Outline outline(request.max_segments);
  Progression progression(request.options, [&plan](const ScheduleEvent& event) {
    if (plan.events.size() < max_events)
      plan.events.push_back(event);
  });
  std::size_t takes = 0;
  std::size_t takes_then = 0; // when `cancelled` was last called
  auto edit = request.edits.begin();
  while (true) {
    const std::int64_t done = progression.steps_done();
    if (done % steps_between_questions == 0 || takes - takes_then > takes_between_questions) {
      takes_then = takes;
      if (cancelled && cancelled())
        return std::nullopt;
    }
    for (; edit != request.edits.end() && edit->after_step <= done; ++edit) {
      if (edit->shares)
        progression.set_shares(*edit->shares);
      else
        progression.edit(edit->schedule, edit->batch);
    }
    const std::optional<PlannedStep> step = progression.next();
    if (!step)
      break;
    plan.needs_feedback = progression.needs_feedback();
    takes += step->takes.takes.size();
    plan.cut = !plan.needs_feedback && (done >= request.max_steps || takes > max_takes);
    if (plan.cut)
      plan.estimated_steps = estimated_steps(request.options, *step);
    if (plan.needs_feedback || plan.cut)
      break;
    history->append(planned_record(*step));
    if (step->step >= request.outline_from)
      outline.add(step->step, step->batch);
    count(plan, *step);
    progression.done();
  }
  plan.history = history;
  plan.outline = outline.segments();
  return plan;
}

std::vector<PlanSegment> with_changes(const std::vector<PlanSegment>& stretches,
                                      const std::vector<PlanSegment>& changes) {
  std::vector<PlanSegment> result = changes;
  for (const PlanSegment& stretch : stretches) {
    std::int64_t from = stretch.first_step;
    for (const PlanSegment& change : changes) {
      if (end_of(change) <= from || change.first_step >= end_of(stretch))
        continue;
      add_part(result, stretch, from, change.first_step);
      from = end_of(change);
    }
    add_part(result, stretch, from, end_of(stretch));
  }
  std::sort(result.begin(), result.end(),
            [](const PlanSegment& a, const PlanSegment& b) { return a.first_step < b.first_step; });
  return result;
}

std::string piecewise_text(const std::vector<PlanSegment>& segments, std::int64_t after_step) {
  if (segments.empty())
    return "constant";
  // A piece begins at the number of steps done, so it holds from the step after it.
  std::string text = fmt::format("piecewise:{}={}", after_step, segments.front().batch);
  for (std::size_t i = 1; i < segments.size(); ++i)
    if (segments[i].batch != segments[i - 1].batch)
      text += fmt::format(",{}={}", segments[i].first_step - 1, segments[i].batch);
  return text;
}

} // namespace batchscope::schedule
