#include "ui/live/limit_line.h"

#include <QCoreApplication>

#include <algorithm>

#include "ui/live/live_curves.h"
#include "ui/plan/plan_handles.h"
#include "ui/plot/units.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr double near_share = 0.1; ///< of the limit

/// Highest peak so far, in bytes.
double highest(const OpenRun& run) {
  const series::Series* peak = run.history()->find("peak_bytes");
  return peak == nullptr ? 0 : peak->values.extremes(0, peak->values.size()).max;
}

/// The budgets that a run has had before the present one.
std::vector<PlotLimit::Earlier> earlier_budgets(const OpenRun& run, series::Axis axis) {
  std::vector<PlotLimit::Earlier> earlier;
  for (const telemetry::Event& event : run.events()) {
    const auto* change = std::get_if<telemetry::BudgetChange>(&event.body);
    if (change == nullptr || change->refused || !change->before_bytes || !change->budget_bytes)
      continue;
    if (const auto at = run.history()->position(change->applies_from_step.value_or(event.step), axis))
      earlier.push_back({*at, static_cast<double>(*change->before_bytes) * to_megabytes});
  }
  return earlier;
}

} // namespace

void LimitLine::update(const OpenRun* run, std::optional<double> predicted, std::optional<double> end,
                       series::Axis axis) {
  const double limit = run != nullptr ? static_cast<double>(run->budget()) : 0;
  const double used = run != nullptr ? std::max(highest(*run), predicted.value_or(0) / to_megabytes) : 0;
  const bool drawn = limit > 0 && used >= near_share * limit;
  std::optional<std::pair<double, double>> ahead; // only there can it be changed
  if (const auto now = drawn ? run->history()->position(run->steps(), axis) : std::nullopt;
      now && run->running() && run->not_steerable().isEmpty()) {
    constexpr double of_the_past = 0.1; // where no end is known
    const double first = axis == series::Axis::clock ? run->history()->began() : 0;
    ahead = end && *end > *now ? std::pair(*now, *end) : std::pair(*now - (*now - first) * of_the_past, *now);
  }
  const std::int64_t id = run != nullptr ? run->id() : 0;
  const std::size_t events = run != nullptr ? run->events().size() : 0;
  const bool whole_process = run != nullptr && run->reads_whole_process();
  if (id == run_ && limit == limit_ && drawn == drawn_ && ahead == ahead_ && events == events_ && axis == axis_ &&
      whole_process == whole_process_)
    return;
  whole_process_ = whole_process;
  ahead_ = ahead;
  run_ = id;
  events_ = events;
  axis_ = axis;
  limit_ = limit;
  drawn_ = drawn;
  QList<PlotLimit> limits;
  if (drawn)
    limits += {.panel = memory_panel,
               .y = limit * to_megabytes,
               .label = budget_label(limit, run),
               .earlier = earlier_budgets(*run, axis)};
  plots_.set_limits(limits);
  QList<PlotHandle> handles;
  if (ahead)
    handles += {.id = limit_handle,
                .panel = memory_panel,
                .from = ahead->first,
                .to = ahead->second,
                .y = limit * to_megabytes,
                .label = budget_handle_label(),
                .text = [](double y) { return format_bytes(y / to_megabytes); },
                .grip_at_end = true};
  plots_.set_handles(memory_panel, handles);
}

std::optional<double> LimitLine::out_of_sight() const {
  return limit_ > 0 && !(drawn_ && plots_.panel_visible(memory_panel)) ? std::optional(limit_) : std::nullopt;
}

} // namespace batchscope::ui
