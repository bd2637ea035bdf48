#include "ui/plan/plan_text.h"

#include <algorithm>
#include <cmath>

#include "core/schedule/schedule_kind.h"

namespace batchscope::ui {

namespace {

/// Nothing beyond the end of the plan.
std::optional<std::int64_t> batch_at(const schedule::Plan& plan, std::int64_t step) {
  const series::Series* batch = plan.history->find("batch");
  const auto at = static_cast<std::size_t>(step - 1);
  return batch == nullptr || at >= batch->values.size() ? std::nullopt
                                                        : std::optional<std::int64_t>(std::llround(batch->values[at]));
}

} // namespace

std::int64_t last_step(const schedule::PlanSegment& segment) {
  return segment.first_step + segment.steps - 1;
}

Segments clipped(const Segments& segments, std::int64_t from) {
  Segments left;
  for (schedule::PlanSegment segment : segments) {
    const std::int64_t last = last_step(segment);
    if (last < from)
      continue;
    segment.first_step = std::max(segment.first_step, from);
    segment.steps = last - segment.first_step + 1;
    left.push_back(segment);
  }
  return left;
}

bool has_rates(const schedule::EditedText& text) {
  const schedule::ScheduleKind* kind = schedule::kind_of(text.base);
  return kind != nullptr && kind->sets_learning_rate;
}

PlanText PlanText::from(std::int64_t step) const {
  PlanText now = *this;
  if (sizes)
    now.batch = batch_at(*sizes, step);
  if (stretches.empty())
    return now;
  const Segments left = clipped(stretches, step);
  now.schedule = QString::fromStdString(schedule::piecewise_text(left, step - 1));
  now.batch = left.empty() ? std::nullopt : std::optional(left.front().batch);
  return now;
}

} // namespace batchscope::ui
