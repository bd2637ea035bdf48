#include "ui/live/event_marks.h"

#include <cmath>

#include "ui/live/live_curves.h"
#include "ui/plot/units.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Value of a series at that step; nothing before the first one.
std::optional<double> value_at(const OpenRun& run, const char* name, std::int64_t step) {
  const series::Series* series = run.history()->find(name);
  if (series == nullptr)
    return std::nullopt;
  const std::size_t index = series::index_at(series->frame->x(series::Axis::step), static_cast<double>(step));
  return index < series->values.size() ? std::optional(series->values[index]) : std::nullopt;
}

} // namespace

void EventMarks::show(const OpenRun* run, series::Axis axis) {
  axis_ = axis;
  taken_ = 0;
  plots_.set_marks({});
  plots_.set_arrows({});
  if (run != nullptr)
    update(*run);
}

void EventMarks::update(const OpenRun& run) {
  const int count = static_cast<int>(run.events().size());
  if (taken_ == count)
    return;
  Signs signs;
  for (; taken_ < count; ++taken_) {
    const auto where = place(run, taken_, axis_);
    if (!where)
      break; // the record of its step comes soon
    add(run, taken_, *where, signs);
  }
  plots_.add_marks(signs.marks);
  plots_.add_arrows(signs.arrows);
}

std::optional<double> EventMarks::place(const OpenRun& run, int number, series::Axis axis) {
  const telemetry::Event& event = run.events()[number];
  if (event.step > run.steps() && run.running())
    return std::nullopt;
  const series::History& history = *run.history();
  if (axis == series::Axis::seconds)
    return event.seconds;
  if (axis == series::Axis::clock)
    return history.clock(static_cast<std::size_t>(number));
  return history.position(event.step, axis).value_or(0); // before the first step: at the beginning
}

void EventMarks::add(const OpenRun& run, int number, double place, Signs& signs) const {
  const telemetry::Event& event = run.events()[number];
  PlotMark mark{.id = number, .x = place};
  if (const auto* oom = std::get_if<telemetry::OutOfMemory>(&event.body))
    return add(run, event.step, *oom, mark, signs);
  if (std::holds_alternative<telemetry::ScheduleEdit>(event.body)) {
    mark.kind = PlotMark::Kind::edit;
    mark.panel = batch_panel;
    mark.y = value_at(run, "batch", event.step);
  } else if (const auto* evaluation = std::get_if<telemetry::Evaluation>(&event.body)) {
    mark.kind = PlotMark::Kind::evaluation;
    mark.panel = loss_panel;
    if (evaluation->loss && std::isfinite(*evaluation->loss))
      mark.y = *evaluation->loss;
  } else if (std::holds_alternative<telemetry::Clamp>(event.body) ||
             std::holds_alternative<telemetry::ScheduleProblem>(event.body)) {
    mark.kind = PlotMark::Kind::note;
    mark.panel = batch_panel;
  } else {
    return;
  }
  signs.marks += mark;
}

/// At the memory that was asked for, and, in training, at the batch that did not fit, with an arrow to what ran.
void EventMarks::add(const OpenRun& run, std::int64_t step, const telemetry::OutOfMemory& oom, PlotMark mark,
                     Signs& signs) {
  mark.kind = PlotMark::Kind::oom;
  mark.panel = memory_panel;
  if (oom.in_use_bytes || oom.requested_bytes)
    mark.y = static_cast<double>(oom.in_use_bytes.value_or(0) + oom.requested_bytes.value_or(0)) * to_megabytes;
  mark.through = true;
  signs.marks += mark;
  if (oom.where == telemetry::OutOfMemory::Where::evaluation || !oom.attempted_batch)
    return;
  mark.through = false;
  const auto attempted = static_cast<double>(*oom.attempted_batch);
  mark.panel = batch_panel;
  mark.y = attempted;
  signs.marks += mark;
  if (!telemetry::survived(oom))
    return; // its step was not made
  if (oom.split_to)
    signs.arrows +=
        {.panel = batch_panel, .x0 = mark.x, .y0 = attempted, .x1 = mark.x, .y1 = static_cast<double>(*oom.split_to)};
  const std::pair<LivePanel, std::optional<double>> others[] = {
      {loss_panel, value_at(run, "loss", step)}, {coverage_panel, value_at(run, "train_coverage", step)}};
  for (const auto& [panel, y] : others) {
    if (!y)
      continue;
    mark.panel = panel;
    mark.y = panel == coverage_panel ? *y * to_percent : *y;
    signs.marks += mark;
  }
}

} // namespace batchscope::ui
