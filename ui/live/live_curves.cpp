#include "ui/live/live_curves.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/telemetry/series_info.h"
#include "ui/live/run_names.h"
#include "ui/opened_runs/run_looks.h"
#include "ui/plot/held_curve.h"
#include "ui/plot/units.h"
#include "ui/texts/memory_uses.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t points_a_draw = 200'000; ///< smoothed per draw, over all runs

class CurveTexts {
  Q_DECLARE_TR_FUNCTIONS(batchscope::ui::LiveCurves)
};

std::shared_ptr<const CurveSource> series_of(const OpenRun& run, const char* name, series::Axis axis,
                                             double scale = 1) {
  return std::make_shared<HistoryCurve>(run.history(), name, axis, scale);
}

/// Whether a run has values of the series that are worth a plot.
bool has_values(const series::History& history, const std::string& series) {
  return history.find(series) != nullptr && says_something(history, series);
}

} // namespace

QString panel_value(int panel, double value) {
  if (!std::isfinite(value))
    return format_number(value);
  switch (panel) {
  case memory_panel:
  case parts_panel:
    return format_bytes(value / to_megabytes);
  case batch_panel:
    return format_count(std::llround(value));
  case coverage_panel:
    return format_percent(value / to_percent);
  default:
    return format_number(value);
  }
}

QString panel_number(int panel, double value) {
  if (!std::isfinite(value))
    return format_number(value);
  switch (panel) {
  case memory_panel:
  case parts_panel:
    return format_megabytes(value / to_megabytes);
  case batch_panel:
    if (value == std::round(value))
      return format_count(std::llround(value));
    [[fallthrough]];
  default:
    return format_number(value, 3);
  }
}

QColor curve_color(const Theme& theme, const CurveStyle& style) {
  return style.role ? theme.color(*style.role) : theme.series(style.series);
}

void LiveCurves::add_panels(LinkedPlots& plots) {
  plots.add_panel({.key = "memory", .title = CurveTexts::tr("Memory"), .unit = "MB", .height = 1.2});
  plots.add_panel({.key = "memory_parts", .title = CurveTexts::tr("Memory at the peak, by use"), .unit = "MB"});
  plots.add_panel({.key = "loss", .title = CurveTexts::tr("Loss"), .height = 1.0});
  plots.add_panel(
      {.key = "batch", .title = CurveTexts::tr("Batch size"), .unit = CurveTexts::tr("examples"), .height = 1.0});
  plots.add_panel({.key = "train_coverage",
                   .title = CurveTexts::tr("train_coverage"),
                   .unit = "%",
                   .height = 0.7,
                   .lowest_top = 100.0});
  plots.add_panel({.key = "others", .title = CurveTexts::tr("Other series"), .from_zero = false, .height = 0.8});
  plots.set_panel_visible(parts_panel, false);
  plots.set_panel_visible(others_panel, false);
}

void LiveCurves::show(const QList<OpenRun*>& runs, series::Axis axis) {
  plots_.clear_curves();
  curves_.clear();
  smoothed_.clear();
  current_look_.reset();
  alone_.reset();
  others_.clear();
  has_streams_ = false;
  has_parts_ = false;
  awaited_.clear();
  needed_ = {memory_panel, loss_panel, batch_panel, coverage_panel};
  plots_.set_shared_legend(runs.size() > 1);
  own_ = own_series();
  if (runs.size() == 1)
    show_alone(*runs.first(), axis);
  else
    show_all_beside(runs, axis);
  arrange();
}

void LiveCurves::show_all_beside(const QList<OpenRun*>& runs, series::Axis axis) {
  QStringList names;
  QList<qint64> numbers;
  for (const OpenRun* run : runs) {
    names += run->name();
    numbers += run->id();
  }
  names = short_names(names, numbers);
  const QList<int> looks = run_looks(numbers);
  if (!looks.isEmpty())
    current_look_ = looks.first();
  for (int number = 0; number < runs.size(); ++number)
    show_beside(*runs[number], names[number], axis, looks[number], number == 0);
}

void LiveCurves::need(int panel, bool needed) {
  if (needed)
    needed_.insert(panel);
  else
    needed_.erase(panel);
}

/// Shows the plots that are chosen and have something to show, in their order.
void LiveCurves::arrange() {
  constexpr double of_large = 2;
  QList<int> order;
  for (const PlotChoice& choice : std::as_const(choices_)) {
    const int panel = panel_of(choice.key);
    if (panel == no_panel)
      continue;
    order += panel;
    plots_.set_panel_visible(panel, choice.shown && needed_.contains(panel));
    plots_.set_panel_height(panel, plots_.panel_spec(panel).height * (choice.large ? of_large : 1));
  }
  for (const auto& [series, panel] : own_panels_)
    if (!order.contains(panel))
      plots_.set_panel_visible(panel, false);
  plots_.set_panel_order(order);
}

bool LiveCurves::any_plot() const {
  return std::any_of(choices_.begin(), choices_.end(),
                     [this](const PlotChoice& choice) { return plots_.panel_visible(panel_of(choice.key)); });
}

/// The panel of a plot; no_panel for that of a series that was never shown.
int LiveCurves::panel_of(const QString& plot) const {
  const PlotChoices usual = usual_plots();
  for (qsizetype i = 0; i < usual.size(); ++i)
    if (usual[i].key == plot)
      return static_cast<int>(i);
  const auto found = own_panels_.find(series_of_plot(plot));
  return found == own_panels_.end() ? no_panel : found->second;
}

std::vector<std::string> LiveCurves::own_series() const {
  std::vector<std::string> series;
  for (const PlotChoice& choice : choices_)
    if (std::string name = series_of_plot(choice.key); choice.shown && !name.empty())
      series.push_back(std::move(name));
  return series;
}

bool LiveCurves::has_own_plot(const std::string& series) const {
  return std::find(own_.begin(), own_.end(), series) != own_.end();
}

/// The panel of this series alone, which is there from the first time that it is shown on.
int LiveCurves::own_panel(const std::string& series, const SeriesLook& look) {
  const auto [found, is_new] = own_panels_.try_emplace(series, no_panel);
  if (is_new)
    found->second = plots_.add_panel({.key = QString::fromStdString(series),
                                      .title = look.heading(),
                                      .unit = look.unit,
                                      .from_zero = false,
                                      .height = 0.8,
                                      .lowest_top = {}});
  return found->second;
}

/// The curve of a run in the plot of a series. `name` and `color` are the run's if it is shown beside others; else the
/// plot has a colour of its own.
void LiveCurves::show_own(const OpenRun& run, const std::string& series, series::Axis axis, const QString& name,
                          std::optional<int> color) {
  if (!has_values(*run.history(), series)) {
    awaited_.emplace_back(run.history(), series);
    return;
  }
  const SeriesLook look = series_look(series);
  const int panel = own_panel(series, look);
  need(panel);
  const auto& steps = telemetry::step_series();
  const bool every_step = std::find(steps.begin(), steps.end(), series) != steps.end();
  // What is there for a few steps only is seen by its points.
  const bool points = !every_step && telemetry::is_known_series(series) && series != telemetry::noise_scale;
  const CurveStyle style{
      .name = name.isEmpty() ? look.title : name, .series = color.value_or(panel - others_panel - 1), .points = points};
  LiveCurve& curve = add(panel, name.isEmpty() ? look.title : CurveTexts::tr("%1, %2").arg(look.title, name),
                         series_of(run, series.c_str(), axis, look.scale), style);
  curve.unit = look.unit;
  curve.run = name;
}

QList<OfferedPlot> LiveCurves::offered(const QList<OpenRun*>& runs) const {
  QList<OfferedPlot> plots;
  const PlotChoices usual = usual_plots();
  for (const PlotChoice& choice : usual)
    if (const int panel = panel_of(choice.key);
        panel == parts_panel ? has_parts_ : panel != others_panel || needed_.contains(panel))
      plots += {choice.key, plots_.panel_spec(panel).title};
  std::set<std::string> series;
  // Those that the usual plots show, and those by which the others are placed.
  const std::set<std::string> placed = {"examples_seen", "epoch_index",     "train_coverage", "batch",
                                        "micro_batch",   "effective_batch", "loss",           "validation_loss",
                                        "seconds",       "allocated_bytes", "reserved_bytes", "peak_bytes"};
  for (const OpenRun* run : runs) {
    std::vector<std::string> names = run->history()->others();
    names.insert(names.end(), telemetry::step_series().begin(), telemetry::step_series().end());
    for (const std::string& name : names)
      if (!placed.contains(name) && !telemetry::stream_series_from(name) && has_values(*run->history(), name))
        series.insert(name);
  }
  std::erase_if(series, telemetry::is_peak_series); // which have a plot in common
  for (const std::string& name : series)
    plots += {series_prefix + QString::fromStdString(name), series_look(name).heading()};
  return plots;
}

std::shared_ptr<SmoothedCurve> LiveCurves::smoothed(const OpenRun& run, series::Axis axis) {
  auto curve = std::make_shared<SmoothedCurve>(run.history(), "loss", axis);
  curve->set_weight(weight_);
  smoothed_.push_back(curve);
  return curve;
}

void LiveCurves::show_alone(const OpenRun& run, series::Axis axis) {
  partial_ = !run.spec() || run.spec()->program;
  alone_ = run.history();
  silent_ = silent_series();
  const auto told = [this](const char* name) { return is_told(name); };
  need(batch_panel, told("batch") || told("effective_batch") || told("micro_batch"));
  need(coverage_panel, told("train_coverage"));
  show_memory(run, axis);
  show_memory_parts(run, axis);
  add(loss_panel, CurveTexts::tr("loss"), series_of(run, "loss", axis),
      {.name = CurveTexts::tr("training"), .series = 1, .faint = true});
  add(loss_panel, CurveTexts::tr("loss, smoothed"), smoothed(run, axis),
      {.name = CurveTexts::tr("smoothed"), .series = 5, .highlighted = true});
  add(loss_panel, CurveTexts::tr("validation loss"), series_of(run, "validation_loss", axis),
      {.name = CurveTexts::tr("validation"), .series = 2, .dashed = true, .points = true});
  if (told("effective_batch"))
    add(batch_panel, CurveTexts::tr("effective batch"), series_of(run, "effective_batch", axis),
        {.name = CurveTexts::tr("effective"), .series = 3, .steps = true, .faint = true});
  if (told("micro_batch"))
    add(batch_panel, CurveTexts::tr("micro batch"), series_of(run, "micro_batch", axis),
        {.name = CurveTexts::tr("micro batch"), .series = 4, .steps = true})
        .parts = series_of(run, "micro_batches", axis);
  if (run.history()->find(telemetry::noise_scale) != nullptr)
    add(batch_panel, CurveTexts::tr("noise scale"), series_of(run, telemetry::noise_scale, axis),
        {.name = CurveTexts::tr("noise scale"),
         .series = 0,
         .dashed = true,
         .help = CurveTexts::tr("Gradient noise scale, smoothed: above this effective batch size, larger batches save "
                                "few further steps")});
  if (told("batch"))
    add(batch_panel, CurveTexts::tr("batch"), series_of(run, "batch", axis),
        {.name = CurveTexts::tr("batch"), .series = 2, .steps = true, .highlighted = true});
  if (told("train_coverage"))
    add(coverage_panel, CurveTexts::tr("train_coverage"), series_of(run, "train_coverage", axis, to_percent),
        {.name = CurveTexts::tr("train_coverage"),
         .series = 3,
         .help = CurveTexts::tr("Part of this epoch's examples seen")});
  const auto list = [&](const char* series, const QString& name) {
    if (told(series) && !has_own_plot(series))
      add(no_panel, name, series_of(run, series, axis), {});
  };
  list("epoch", CurveTexts::tr("epoch"));
  list("learning_rate", CurveTexts::tr("learning rate"));
  list("grad_norm", CurveTexts::tr("gradient norm"));
  show_others(run, axis);
  for (const std::string& series : own_)
    show_own(run, series, axis, {}, std::nullopt);
}

/// Shows the memory. For a program on the host it is that of its process, which its budget does not limit as a whole.
void LiveCurves::show_memory(const OpenRun& run, series::Axis axis) {
  const bool whole_process = run.reads_whole_process();
  const auto add_memory = [&](const char* series, const QString& name, const CurveStyle& style) {
    if (is_told(series))
      add(memory_panel, name, series_of(run, series, axis, to_megabytes), style);
  };
  const QString reserved = whole_process ? CurveTexts::tr("RAM since start") : CurveTexts::tr("reserved by allocator");
  add_memory(
      "reserved_bytes", reserved,
      {.name = reserved,
       .role = Role::dimmed,
       .steps = true,
       .faint = true,
       .help = whole_process
                   ? CurveTexts::tr("RAM of the process after the step, since training started; the budget does not "
                                    "include library code and library caches")
                   : CurveTexts::tr("Memory in use and memory cached for reuse by the allocator, after the step")});
  add_memory("allocated_bytes", CurveTexts::tr("in use after step"),
             {.name = CurveTexts::tr("in use after step"),
              .series = 4,
              .faint = true,
              .help = whole_process
                          ? CurveTexts::tr("Memory allocated by the process after the step, since training started, "
                                           "the model included; the budget does not include library caches")
                          : CurveTexts::tr("Memory in use by tensors after the step")});
  add_memory("peak_bytes", CurveTexts::tr("peak memory"),
             {.name = CurveTexts::tr("peak"),
              .series = 0,
              .steps = true,
              .highlighted = true,
              .help = whole_process ? CurveTexts::tr("Peak RAM of the process during the step, since training started; "
                                                     "the budget does not include library code and library caches")
                                    : CurveTexts::tr("Highest memory in use during the step")});
}

/// What the peaks are used for, if that is known and chosen.
void LiveCurves::show_memory_parts(const OpenRun& run, series::Axis axis) {
  has_parts_ = alone_->find(telemetry::peak_series(telemetry::Use::parameters)) != nullptr;
  const bool chosen = std::any_of(choices_.begin(), choices_.end(), [this](const PlotChoice& choice) {
    return choice.shown && panel_of(choice.key) == parts_panel;
  });
  if (!has_parts_ || !chosen)
    return;
  need(parts_panel);
  const QList<MemoryUse> uses = memory_uses({});
  for (qsizetype use = 0; use < uses.size(); ++use) {
    const std::string series = telemetry::peak_series(static_cast<telemetry::Use>(use));
    if (says_something(*alone_, series))
      add(parts_panel, uses[use].name, std::make_shared<HeldCurve>(run.history(), series, axis, to_megabytes),
          {.name = uses[use].name, .series = uses[use].series, .steps = true});
  }
}

/// Series that no other panel shows: of other programs, or recorded without a place of their own.
void LiveCurves::show_others(const OpenRun& run, series::Axis axis) {
  others_ = alone_->others();
  int series = 0;
  std::vector<std::string> streams; // each has its own colour in all panels
  for (const std::string& name : others_) {
    if (const auto stream = telemetry::stream_series_from(name)) {
      auto found = std::find(streams.begin(), streams.end(), stream->stream);
      if (found == streams.end())
        found = streams.insert(found, stream->stream);
      show_stream(run, name, static_cast<int>(found - streams.begin()), axis);
      continue;
    }
    if (has_own_plot(name))
      continue;
    // Only for this program's runs: another's series of that name may be anything.
    if (run.spec() && (name == telemetry::tokens || name == telemetry::tokens_per_second)) {
      add(no_panel, name == telemetry::tokens ? CurveTexts::tr("tokens") : CurveTexts::tr("tokens per second"),
          series_of(run, name.c_str(), axis), {});
      continue;
    }
    if (telemetry::is_known_series(name))
      continue;
    const QString title = QString::fromStdString(name);
    add(others_panel, title, series_of(run, name.c_str(), axis), {.name = title, .series = series++});
  }
  need(others_panel, series > 0);
  has_streams_ = !streams.empty();
}

/// A series of one of several data streams, in the panel of the same quantity of all.
void LiveCurves::show_stream(const OpenRun& run, const std::string& series, int look, series::Axis axis) {
  const telemetry::StreamSeries of = *telemetry::stream_series_from(series);
  const QString stream = QString::fromStdString(of.stream);
  const bool coverage = of.quantity == "train_coverage";
  const int panel = of.quantity == "loss"       ? loss_panel
                    : coverage                  ? coverage_panel
                    : of.quantity == "examples" ? batch_panel
                                                : no_panel;
  const QString name = of.quantity == "loss"       ? CurveTexts::tr("loss of %1").arg(stream)
                       : coverage                  ? CurveTexts::tr("train_coverage of %1").arg(stream)
                       : of.quantity == "examples" ? CurveTexts::tr("examples of %1").arg(stream)
                                                   : CurveTexts::tr("epoch of %1").arg(stream);
  add(by_stream_ ? panel : no_panel, name, series_of(run, series.c_str(), axis, coverage ? to_percent : 1),
      {.name = stream, .series = look, .dashed = true, .steps = panel == batch_panel});
}

/// Those that are not known of the run that is shown alone: its program does not report them, or it was imported.
std::vector<std::string> LiveCurves::silent_series() const {
  std::vector<std::string> silent;
  for (const char* name : {"reserved_bytes", "allocated_bytes", "peak_bytes", "effective_batch", "micro_batch", "batch",
                           "train_coverage", "epoch", "learning_rate", "grad_norm"})
    if (partial_ && !says_something(*alone_, name))
      silent.emplace_back(name);
  return silent;
}

bool LiveCurves::is_told(const char* series) const {
  return std::find(silent_.begin(), silent_.end(), series) == silent_.end();
}

bool LiveCurves::outdated() const {
  const auto came = [](const auto& awaited) { return has_values(*awaited.first, awaited.second); };
  return (alone_ && (alone_->others() != others_ || silent_series() != silent_)) ||
         std::any_of(awaited_.begin(), awaited_.end(), came);
}

void LiveCurves::show_beside(const OpenRun& run, const QString& name, series::Axis axis, int look, bool current) {
  CurveStyle style{.name = name, .series = look, .highlighted = current};
  CurveStyle staircase = style;
  staircase.steps = true;
  CurveStyle points = style;
  points.name.clear();
  points.with = name;
  points.dashed = true;
  points.points = true;
  const auto of_run = [&](int panel, const QString& what, std::shared_ptr<const CurveSource> source,
                          const CurveStyle& look) { add(panel, what, std::move(source), look).run = name; };
  if (run.tells("peak_bytes"))
    of_run(memory_panel, CurveTexts::tr("peak, %1").arg(name), series_of(run, "peak_bytes", axis, to_megabytes),
           staircase);
  of_run(loss_panel, CurveTexts::tr("loss, %1").arg(name), smoothed(run, axis), style);
  curves_.back().exact = series_of(run, "loss", axis);
  of_run(loss_panel, CurveTexts::tr("validation, %1").arg(name), series_of(run, "validation_loss", axis), points);
  if (run.tells("batch"))
    of_run(batch_panel, CurveTexts::tr("batch, %1").arg(name), series_of(run, "batch", axis), staircase);
  if (current && run.tells("train_coverage"))
    add(coverage_panel, CurveTexts::tr("train_coverage"), series_of(run, "train_coverage", axis, to_percent), style);
  for (const std::string& series : own_)
    show_own(run, series, axis, name, look);
}

LiveCurve& LiveCurves::add(int panel, const QString& name, std::shared_ptr<const CurveSource> source,
                           const CurveStyle& style) {
  if (panel != no_panel)
    plots_.add_curve(panel, source, style);
  return curves_.emplace_back(LiveCurve{.name = name, .panel = panel, .source = std::move(source), .style = style});
}

void LiveCurves::set_smoothing(double weight) {
  weight_ = weight;
  for (const auto& curve : smoothed_)
    curve->set_weight(weight);
}

bool LiveCurves::catch_up() {
  bool done = true;
  const std::size_t most = points_a_draw / std::max<std::size_t>(1, smoothed_.size());
  const auto [from, to] = plots_.visible_range();
  double points = 0;
  for (const auto& curve : smoothed_)
    points = std::max(points, curve->points_in(from, to));
  for (const auto& curve : smoothed_) {
    curve->set_points_in_view(points);
    done = curve->catch_up(most) && done;
  }
  return done;
}

} // namespace batchscope::ui
