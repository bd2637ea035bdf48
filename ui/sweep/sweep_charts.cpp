#include "ui/sweep/sweep_charts.h"

#include <QVBoxLayout>

#include <algorithm>
#include <map>

#include "core/compare/statistics.h"
#include "ui/plot/linked_plots.h"
#include "ui/plot/units.h"
#include "ui/sweep/metrics.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

/// In the order of the panels. Of the scores the first that any run has is shown.
constexpr std::array charted{Metric::accuracy, Metric::loss, Metric::training_loss, Metric::throughput};
constexpr double far_apart = 5; ///< from this ratio of the largest to the smallest value on, the x axis is logarithmic

/// Values of a metric by the value of the field.
using Values = std::map<double, std::vector<double>>;

Values measured_by_value(const SweepView& view, Metric metric) {
  Values values;
  const double factor = metric == Metric::accuracy ? to_percent : 1;
  for (std::size_t i = 0; i < view.runs.size(); ++i) {
    const std::vector<std::string>& settings = view.content->entries[i].values;
    bool is_number = false;
    const double x = settings.size() == 1 ? QString::fromStdString(settings.front()).toDouble(&is_number) : 0;
    const auto y = view.runs[i].stage == RunStage::finished ? metric_value(metric, view.runs[i].outcome) : std::nullopt;
    if (is_number && y)
      values[x].push_back(*y * factor);
  }
  return values;
}

PlotBand band_of(const Values& values, int panel, int series) {
  PlotBand band{.panel = panel, .x = {}, .low = {}, .high = {}, .series = series};
  for (const auto& [x, repeats] : values) {
    const compare::Summary summary = compare::summarize(repeats);
    const auto half = compare::half_interval(summary);
    if (!half)
      continue; // a single run says nothing of how far others would be
    band.x.push_back(x);
    band.low.push_back(std::max(0.0, summary.mean - *half)); // no score and no rate is below
    band.high.push_back(summary.mean + *half);
  }
  return band;
}

} // namespace

SweepCharts::SweepCharts(const Theme& theme, QWidget* parent) : QWidget(parent), plots_(new LinkedPlots(theme, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(plots_);
  for (std::size_t i = 0; i < count; ++i) {
    const Metric metric = charted[i];
    panels_[i] = plots_->add_panel({.key = metric_key(metric),
                                    .title = metric_title(metric),
                                    .unit = metric == Metric::accuracy ? QStringLiteral("%") : QString(),
                                    .from_zero = metric == Metric::throughput});
    means_[i] = std::make_shared<PointsCurve>();
    plots_->add_curve(panels_[i], means_[i],
                      {.name = metric_title(metric), .series = static_cast<int>(i), .points = true});
  }
  plots_->show_crosshair_values();
  setObjectName(QStringLiteral("sweep_charts"));
  setMinimumHeight(Theme::lines(10));
}

bool SweepCharts::show_sweep(const SweepView& view) {
  if (!view.content || view.content->fields.size() != 1)
    return false;
  QList<PlotBand> bands;
  bool scored = false;
  std::size_t most = 0;
  double least_x = 0, greatest_x = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Values values = measured_by_value(view, charted[i]);
    const bool is_score = charted[i] != Metric::throughput;
    const bool shown = values.size() > 1 && !(is_score && scored);
    plots_->set_panel_visible(panels_[i], shown);
    if (!shown)
      continue;
    scored = scored || is_score;
    most = std::max(most, values.size());
    least_x = values.begin()->first;
    greatest_x = values.rbegin()->first;
    std::vector<double> x, y;
    for (const auto& [at, repeats] : values) {
      x.push_back(at);
      y.push_back(compare::summarize(repeats).mean);
    }
    means_[i]->set(x, y);
    bands << band_of(values, panels_[i], static_cast<int>(i));
  }
  plots_->set_bands(bands);
  plots_->set_log_x(least_x > 0 && greatest_x >= far_apart * least_x);
  plots_->set_x_label(field_name(view.content->fields.front()));
  plots_->refresh();
  return most > 1;
}

} // namespace batchscope::ui
