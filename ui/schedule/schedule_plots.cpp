#include "ui/schedule/schedule_plots.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/plan/plan_handles.h"
#include "ui/plot/units.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr int max_clamps_marked = 50;
constexpr const char* peak_series = "peak_bytes";

/// Maximum of a series; 0 if there is none.
double greatest(const series::History& history, const char* name) {
  const series::Series* series = history.find(name);
  return series == nullptr ? 0 : series->values.extremes(0, series->values.size()).max;
}

} // namespace

SchedulePlots::SchedulePlots(const Theme& theme, QWidget* parent)
    : QWidget(parent), plots_(new LinkedPlots(theme, this)), whole_(std::make_shared<DerivedCurve>()),
      as_run_(std::make_shared<DerivedCurve>()), micro_(std::make_shared<DerivedCurve>()) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(plots_);
  plots_->show_crosshair_values();
  plots_->add_panel(
      {.key = "batch", .title = tr("Batch size"), .unit = tr("examples"), .height = 1.7, .lowest_top = {}});
  plots_->add_panel({.key = "memory", .title = tr("Memory"), .unit = "MB", .height = 1.3, .lowest_top = {}});
  plots_->add_panel({.key = "coverage", .title = tr("train_coverage"), .unit = "%", .height = 0.8, .lowest_top = 100});
  plots_->add_panel({.key = "epoch", .title = tr("Epoch"), .height = 0.8, .lowest_top = {}});
  plots_->add_panel({.key = "rate", .title = tr("Learning rate"), .height = 0.8, .lowest_top = {}});
  plots_->set_x_label(tr("optimizer step"));
  plots_->set_x_values(XValues::whole);
  const auto style = [](int series, bool steps) {
    return CurveStyle{.name = {}, .series = series, .role = {}, .steps = steps};
  };
  CurveStyle part_of_epoch = style(3, false);
  part_of_epoch.area = true;
  values_ = {{batch, "batch", 1, style(2, true), tr("planned, drag to change"), nullptr},
             {coverage, "train_coverage", to_percent, part_of_epoch, {}, nullptr},
             {epoch, "epoch", 1, style(5, false), {}, nullptr},
             {rate, "learning_rate", 1, style(1, true), {}, nullptr}};
  connect(plots_, &LinkedPlots::handle_dragged, this, [this](qint64 id, double y) {
    if (id != limit_handle)
      Q_EMIT dragged(id, std::llround(y));
  });
  connect(plots_, &LinkedPlots::handle_dropped, this, [this](qint64 id, double y) {
    if (id == limit_handle)
      Q_EMIT budget_dropped(y / to_megabytes);
    else
      Q_EMIT dropped(id, std::llround(y));
  });
}

bool SchedulePlots::has_future(const PlanEditor& editor) {
  const OpenRun* run = editor.run();
  return run == nullptr || (run->running() && run->plannable()) || run->status() == QLatin1String("loading");
}

/// Series that are drawn of a plan, or that a program reports.
QStringList SchedulePlots::told(const PlanEditor& editor) const {
  QStringList told;
  for (const Value& value : values_) {
    const bool planned = has_future(editor) && (value.panel != rate || editor.plans_rates());
    if (planned || (editor.run() != nullptr && editor.run()->tells(value.series)))
      told << QString::fromLatin1(value.series);
  }
  if (editor.run() != nullptr && editor.run()->tells(peak_series))
    told << QString::fromLatin1(peak_series);
  return told;
}

void SchedulePlots::show_edited(const PlanEditor& editor) {
  plots_->clear_curves();
  // Cursors on another run's axis are meaningless here.
  if (const std::int64_t run = editor.run() != nullptr ? editor.run()->id() : 0; std::exchange(edited_, run) != run)
    plots_->set_cursors(std::nullopt, std::nullopt);
  drawn_ = nullptr;
  future_drawn_ = has_future(editor);
  told_ = told(editor);
  for (const Value& value : values_)
    plots_->set_panel_visible(value.panel, told_.contains(value.series));
  const auto add = [this](Panel panel, const std::shared_ptr<DerivedCurve>& curve, const CurveStyle& style) {
    if (future_drawn_)
      plots_->add_curve(panel, curve, style);
  };
  in_parts_ = false;
  micro_curve_ = future_drawn_ ? plots_->add_curve(batch, micro_, micro_style(false)) : 0;
  add(memory, whole_, {.name = tr("as one batch"), .series = 0, .role = {}, .steps = true, .faint = true});
  add(memory, as_run_, {.name = tr("as micro batches"), .series = 0, .role = {}, .dashed = true, .steps = true});
  for (Value& value : values_) {
    value.curve = std::make_shared<DerivedCurve>();
    CurveStyle style = value.style;
    style.name = value.planned;
    style.dashed = true;
    if (value.panel != rate || editor.plans_rates())
      add(value.panel, value.curve, style);
  }
  if (editor.run() != nullptr)
    add_happened(*editor.run());
  update_plan(editor);
  plots_->show_all();
}

void SchedulePlots::add_happened(const OpenRun& run) {
  const auto add = [&](Panel panel, const char* series, double scale, const CurveStyle& style) {
    plots_->add_curve(panel, std::make_shared<HistoryCurve>(run.history(), series, series::Axis::step, scale), style);
  };
  for (const Value& value : values_)
    if (run.tells(value.series))
      add(value.panel, value.series, value.scale, value.style);
  if (run.tells(peak_series))
    add(memory, peak_series, to_megabytes, {.name = tr("peak"), .series = 0, .role = {}, .steps = true});
}

void SchedulePlots::update_plan(const PlanEditor& editor) {
  if (values_.front().curve == nullptr)
    return;
  if (future_drawn_ != has_future(editor) || told_ != told(editor))
    return show_edited(editor);
  const OpenRun* run = editor.run();
  plots_->set_caption(run != nullptr ? tr("Run %1: %2").arg(run->id()).arg(run->name()) : tr("Draft"));
  follow_plan(editor);
  show_marks(editor);
  follow(editor);
}

void SchedulePlots::follow_plan(const PlanEditor& editor) {
  const auto& plan = editor.plan();
  const auto series = [&plan](const char* name, double scale = 1) -> std::shared_ptr<const CurveSource> {
    return plan ? std::make_shared<HistoryCurve>(plan->history, name, series::Axis::step, scale) : nullptr;
  };
  if (plan != drawn_ || !plan)
    for (const Value& value : values_)
      value.curve->follow(series(value.series, value.scale));
  drawn_ = plan;
  const bool known = editor.memory() && editor.limit_bytes() > 0;
  plots_->set_panel_visible(memory, known || told_.contains(QLatin1String(peak_series)));
  if (!known) {
    show_in_parts(false);
    for (const auto& curve : {whole_, as_run_, micro_})
      curve->follow(nullptr);
    plots_->set_limits({});
    plots_->set_handles(memory, {});
    return;
  }
  const auto split = [curve = *editor.memory(), limit = editor.limit_bytes()](double size) {
    return curve.split(std::llround(size), limit);
  };
  whole_->follow(series("batch"), [curve = *editor.memory()](double size) {
    return static_cast<double>(curve.at(std::llround(size)).bytes) * to_megabytes;
  });
  as_run_->follow(series("batch"),
                  [split](double size) { return static_cast<double>(split(size).bytes) * to_megabytes; });
  micro_->follow(series("batch"), [split](double size) {
    const predict::Split parts = split(size);
    return parts.micro_batches > 1 ? static_cast<double>(parts.micro_batch) : std::nan("");
  });
  const double largest = plan ? greatest(*plan->history, "batch") : 0;
  show_in_parts(largest > 0 && split(largest).micro_batches > 1);
  const double peak = largest > 0 ? static_cast<double>(editor.memory()->at(std::llround(largest)).bytes) : 0;
  show_limit(editor, peak);
}

CurveStyle SchedulePlots::micro_style(bool named) {
  return {.name = named ? tr("micro batch") : QString(), .series = 4, .role = {}, .dashed = true, .steps = true};
}

/// Draws the limit only if it is near: a distant one would flatten the curves.
void SchedulePlots::show_limit(const PlanEditor& editor, double planned_peak) {
  constexpr double near_share = 0.1;
  const auto limit = static_cast<double>(editor.limit_bytes());
  const double peak =
      std::max(planned_peak, editor.run() != nullptr ? greatest(*editor.run()->history(), peak_series) : 0);
  QList<PlotLimit> limits;
  if (limit > 0 && peak >= near_share * limit)
    limits << PlotLimit{memory, limit * to_megabytes, budget_label(limit, editor.run())};
  plots_->set_limits(limits);
  QList<PlotHandle> handles;
  if (!limits.empty() && future_drawn_ && editor.plan() && editor.plan()->steps > 1)
    handles += {.id = limit_handle,
                .panel = memory,
                .from = editor.run() != nullptr ? static_cast<double>(editor.changeable_from()) : 0,
                .to = static_cast<double>(editor.plan()->steps),
                .y = limit * to_megabytes,
                .label = budget_handle_label(),
                .text = [](double y) { return format_bytes(y / to_megabytes); },
                .grip_at_end = true};
  plots_->set_handles(memory, handles);
}

/// In the legend only if some batch is split.
void SchedulePlots::show_in_parts(bool in_parts) {
  if (in_parts == in_parts_ || micro_curve_ == 0)
    return;
  in_parts_ = in_parts;
  plots_->set_style(micro_curve_, micro_style(in_parts));
}

void SchedulePlots::follow(const PlanEditor& editor) {
  if (told_ != told(editor))
    return show_edited(editor); // the run reports something for the first time
  std::optional<double> here;
  if (editor.run() != nullptr)
    here = static_cast<double>(editor.run()->steps());
  for (const Value& value : values_)
    value.curve->set_start(here);
  for (const auto& curve : {whole_, as_run_, micro_})
    curve->set_start(here);
  plots_->set_future(future_drawn_ ? std::optional(here.value_or(0)) : std::nullopt);
  plots_->set_end(editor.plan() && future_drawn_ ? std::optional(static_cast<double>(editor.plan()->steps))
                                                 : std::nullopt);
  show_handles(editor);
  plots_->refresh();
}

void SchedulePlots::show_handles(const PlanEditor& editor) {
  QList<PlotHandle> handles;
  for (const PlanStretch& stretch : plan_stretches(editor))
    handles += {.id = stretch.name,
                .panel = batch,
                .from = static_cast<double>(stretch.from),
                .to = static_cast<double>(stretch.to),
                .y = static_cast<double>(stretch.batch),
                .highest = static_cast<double>(stretch.highest),
                .good = stretch.good,
                .label = stretch.label};
  plots_->set_handles(batch, handles);
}

void SchedulePlots::show_marks(const PlanEditor& editor) {
  QList<PlotMark> marks;
  const auto add = [&marks](PlotMark::Kind kind, std::int64_t step, const QString& label) -> PlotMark& {
    PlotMark mark;
    mark.id = marks.size();
    mark.kind = kind;
    mark.x = static_cast<double>(step);
    mark.panel = batch;
    mark.label = label;
    mark.through = kind != PlotMark::Kind::note;
    marks << mark;
    return marks.last();
  };
  if (editor.run() != nullptr) {
    for (const telemetry::Event& event : editor.run()->events()) {
      if (std::holds_alternative<telemetry::ScheduleEdit>(event.body))
        add(PlotMark::Kind::edit, event.step, tr("edited"));
      else if (const auto* oom = std::get_if<telemetry::OutOfMemory>(&event.body))
        // At the size that did not fit; an evaluation's is not part of this plot.
        if (oom->where != telemetry::OutOfMemory::Where::evaluation && oom->attempted_batch)
          add(PlotMark::Kind::oom, event.step, {}).y = static_cast<double>(*oom->attempted_batch);
    }
  }
  int clamps = 0;
  if (editor.plan())
    for (const schedule::ScheduleEvent& event : editor.plan()->events)
      if (event.step + 1 >= editor.changeable_from() && event.step < editor.plan()->steps &&
          ++clamps <= max_clamps_marked)
        add(PlotMark::Kind::note, event.step + 1,
            std::holds_alternative<telemetry::Clamp>(event.what) ? tr("clamped") : tr("unchanged (schedule error)"));
  plots_->set_marks(marks);
}

} // namespace batchscope::ui

#include "moc_schedule_plots.cpp"
