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

} // namespace

void LimitLine::update(const OpenRun* run, std::optional<double> predicted, series::Axis axis) {
  const double limit = run != nullptr ? static_cast<double>(run->budget()) : 0;
  const double used = run != nullptr ? std::max(highest(*run), predicted.value_or(0) / to_megabytes) : 0;
  const bool drawn = limit > 0 && used >= near_share * limit;
  std::optional<double> handle_to;
  if (drawn && run->running() && run->not_steerable().isEmpty())
    handle_to = run->history()->position(run->steps(), axis);
  const bool whole_process = run != nullptr && run->reads_whole_process();
  if (limit == limit_ && drawn == drawn_ && handle_to == handle_to_ && whole_process == whole_process_)
    return;
  whole_process_ = whole_process;
  handle_to_ = handle_to;
  limit_ = limit;
  drawn_ = drawn;
  QList<PlotLimit> limits;
  if (drawn)
    limits += {.panel = memory_panel, .y = limit * to_megabytes, .label = budget_label(limit, run)};
  plots_.set_limits(limits);
  QList<PlotHandle> handles;
  if (handle_to)
    handles += {.id = limit_handle,
                .panel = memory_panel,
                .from = 0,
                .to = *handle_to,
                .y = limit * to_megabytes,
                .label = QCoreApplication::translate("batchscope::ui::LimitLine", "budget, drag to change")};
  plots_.set_handles(memory_panel, handles);
}

std::optional<double> LimitLine::out_of_sight() const {
  return limit_ > 0 && !drawn_ ? std::optional(limit_) : std::nullopt;
}

} // namespace batchscope::ui
