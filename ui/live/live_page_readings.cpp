// What the page lists beside the plots: the values at a place, and between two.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/live/live_page.h"
#include "ui/live/plan_layer.h"
#include "ui/live/reading_card.h"
#include "ui/live/run_summary.h"
#include "ui/live/view_bar.h"
#include "ui/plot/ticks.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Where the values of several runs are from: they have other steps there.
QString place_text(series::Axis axis, double x) {
  switch (axis) {
  case series::Axis::step:
    return LivePage::tr("At step %1").arg(format_count(std::llround(x)));
  case series::Axis::examples:
    return LivePage::tr("At %1 examples").arg(format_count(std::llround(x)));
  case series::Axis::epoch:
    return LivePage::tr("At epoch %1").arg(format_number(x, 3));
  case series::Axis::clock:
    return LivePage::tr("On %1").arg(clock_text(x));
  case series::Axis::seconds:
    break;
  }
  return LivePage::tr("After %1").arg(format_duration(x));
}

/// Where the last step of the runs is.
double last_place(const QList<OpenRun*>& runs, series::Axis axis) {
  double last = 0;
  for (const OpenRun* run : runs)
    last = std::max(last, run->history()->position(run->steps(), axis).value_or(0));
  return last;
}

} // namespace

void LivePage::update_readings() {
  const OpenRun* run = workbench_.current();
  if (run == nullptr || !isVisible())
    return;
  const series::Axis axis = axis_;
  std::vector<LiveCurve> all = curves_.curves();
  all.insert(all.end(), plan_->curves().begin(), plan_->curves().end());
  const double newest = run->history()->position(run->steps(), axis).value_or(0);
  const bool several = workbench_.opened().size() > 1;
  // After a plan became shorter, the crosshair may be beyond all that there is.
  const double last = std::max(last_place(workbench_.opened(), axis), plan_->end().value_or(0));
  const double x = std::min(plots_->crosshair().value_or(newest), last);
  const auto step_at = [&](double place) {
    return format_count(history_at(place, axis).step_at(place, axis).value_or(0));
  };
  // Planned values of a place that the run has passed are not shown any more.
  if (several && !plots_->crosshair())
    reading_->show_at(tr("Peak and last values of each run"), curves_.curves(), std::nullopt, limit_.out_of_sight());
  else if (!plots_->crosshair() && !run->running() && run->steps() > 0)
    reading_->show_facts(tr("The whole run"), run_summary(*run));
  else if (is_planned(history_at(x, axis)))
    reading_->show_at(tr("At step %1, planned").arg(step_at(x)), all, x, limit_.out_of_sight());
  else
    reading_->show_at(several ? place_text(axis, x) : tr("At step %1").arg(step_at(x)), curves_.curves(), x,
                      limit_.out_of_sight());
  const auto [first, second] = plots_->cursors();
  between_->setVisible(first && second);
  if (first && second)
    between_->show_between(
        tr("Between steps %1 and %2").arg(step_at(std::min(*first, *second)), step_at(std::max(*first, *second))), all,
        std::min(*first, *second), std::max(*first, *second));
}

const series::History& LivePage::history_at(double place, series::Axis axis) const {
  const OpenRun& current = *workbench_.current();
  for (const OpenRun* run : workbench_.opened())
    if (place <= run->history()->position(run->steps(), axis).value_or(0))
      return *run->history();
  const auto& plan = plan_->editor().plan();
  return plan && current.running() ? *plan->history : *current.history();
}

bool LivePage::is_planned(const series::History& history) const {
  const auto& plan = plan_->editor().plan();
  return plan && &history == plan->history.get();
}

/// Cursors stay at their steps. Planned steps have no time yet; a cursor there is removed.
void LivePage::move_cursors(series::Axis from, series::Axis to) {
  const auto moved = [&](const std::optional<double>& x) -> std::optional<double> {
    if (!x || workbench_.current() == nullptr)
      return std::nullopt;
    const series::History& history = history_at(*x, from);
    const auto step = history.step_at(*x, from);
    if (!step || (series::is_time(to) && is_planned(history)))
      return std::nullopt;
    return history.position(*step, to);
  };
  auto [first, second] = plots_->cursors();
  first = moved(first);
  second = moved(second);
  if (!first)
    std::swap(first, second);
  plots_->set_crosshair(moved(plots_->crosshair()));
  plots_->set_cursors(first, second);
  update_readings();
}

} // namespace batchscope::ui
