#include "ui/live/limit_line.h"

#include <QCoreApplication>

#include <algorithm>

#include "ui/live/live_curves.h"
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

void LimitLine::update(const OpenRun* run, std::optional<double> predicted) {
  const double limit = run != nullptr && run->start() ? static_cast<double>(run->start()->budget_bytes) : 0;
  const double used = run != nullptr ? std::max(highest(*run), predicted.value_or(0) / to_megabytes) : 0;
  const bool drawn = limit > 0 && used >= near_share * limit;
  if (limit == limit_ && drawn == drawn_)
    return;
  limit_ = limit;
  drawn_ = drawn;
  QList<PlotLimit> limits;
  if (drawn)
    limits += {.panel = memory_panel,
               .y = limit * to_megabytes,
               .label = QCoreApplication::translate("batchscope::ui::LimitLine", "budget %1").arg(format_bytes(limit))};
  plots_.set_limits(limits);
}

std::optional<double> LimitLine::out_of_sight() const {
  return limit_ > 0 && !drawn_ ? std::optional(limit_) : std::nullopt;
}

} // namespace batchscope::ui
