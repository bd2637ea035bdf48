#include "ui/plot/detail/panel.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/y_fit.h"
#include "ui/plot/ticks.h"

namespace batchscope::ui {

namespace {

/// Collects the values that an axis has to show.
class Gathered {
public:
  Gathered(const View& view, bool log) : view_(view), log_(log) {}

  void add(double y) {
    if (!log_ || y > 0)
      widen(range_, y);
  }
  void add_at(double x, double y) {
    if (x >= view_.range().first && x <= view_.range().second)
      add(y);
  }
  const std::optional<Range>& range() const { return range_; }

private:
  const View& view_;
  bool log_;
  std::optional<Range> range_;
};

/// Adds all values but `fraction` of them at either end.
void add_clipped(std::vector<double>& values, double fraction, Gathered& gathered) {
  if (values.empty())
    return;
  const auto skipped = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size()));
  const auto low = values.begin() + skipped;
  const auto high = values.end() - 1 - skipped;
  std::nth_element(values.begin(), low, values.end());
  gathered.add(*low);
  std::nth_element(values.begin(), high, values.end());
  gathered.add(*high);
}

void add_scene(const Scene& scene, int number, const View& view, Gathered& gathered) {
  const auto [from, to] = view.range();
  for (const PlotLimit& limit : scene.limits)
    if (limit.panel == number) // not those before, which may have been far away
      gathered.add(limit.y);
  for (const PlotMark& mark : scene.marks_within(view.range()))
    if (mark.panel == number && mark.y)
      gathered.add_at(mark.x, *mark.y);
  for (const PlotArrow& arrow : scene.arrows) {
    if (arrow.panel != number)
      continue;
    gathered.add_at(arrow.x0, arrow.y0);
    gathered.add_at(arrow.x1, arrow.y1);
  }
  for (const PlotBand& band : scene.bands) {
    if (band.panel != number)
      continue;
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      gathered.add_at(band.x[i], band.low[i]);
      gathered.add_at(band.x[i], band.high[i]);
    }
  }
  for (const PlotHandle& handle : scene.handles)
    if (handle.panel == number && handle.from <= to && handle.to >= from)
      gathered.add(handle.y);
}

} // namespace

Panel::Panel(Canvas& canvas, const PanelSpec& spec, const QSharedPointer<QCPAxisTickerText>& x_ticks)
    : spec(spec), height(spec.height), rect_(new QCPAxisRect(&canvas)), y_ticks_(new QCPAxisTickerText) {
  rect_->setAutoMargins(QCP::msNone);
  rect_->setMinimumSize(20, 10);
  QCPAxis* x = rect_->axis(QCPAxis::atBottom);
  QCPAxis* y = rect_->axis(QCPAxis::atLeft);
  x->setTicker(x_ticks);
  y->setTicker(y_ticks_);
  for (QCPAxis* axis : {x, y}) {
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setTickLength(0, 0);
    axis->setSubTicks(false);
    axis->setTickLabelPadding(7);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
}

void Panel::fit(const std::vector<std::unique_ptr<Curve>>& curves, int number, const Scene& scene, const View& view,
                double clipping) {
  if (zoomed_y) {
    y = *zoomed_y;
    return;
  }
  if (std::any_of(scene.handles.begin(), scene.handles.end(), [&](const PlotHandle& handle) {
        return handle.id == scene.dragged_handle && handle.panel == number;
      }))
    return; // a dragged handle must stay under the pointer
  Gathered gathered(view, log);
  std::vector<double> values;
  for (const auto& curve : curves) {
    if (curve->panel != number || curve->hidden)
      continue;
    if (clipping > 0)
      std::copy_if(curve->samples.y.begin(), curve->samples.y.end(), std::back_inserter(values),
                   [](double value) { return std::isfinite(value); });
    else
      for (const double value : curve->samples.y)
        gathered.add(value);
  }
  add_clipped(values, clipping, gathered);
  add_scene(scene, number, view, gathered);
  if (spec.lowest_top)
    gathered.add(*spec.lowest_top);
  y = fitted(gathered.range(), y, {.from_zero = spec.from_zero, .log = log, .keep = !fit_anew});
  fit_anew = fit_anew && !gathered.range();
}

double Panel::set_axes(const View& view, int height, const QFont& font) {
  QCPAxis* x = rect_->axis(QCPAxis::atBottom);
  QCPAxis* y_axis = rect_->axis(QCPAxis::atLeft);
  // A logarithmic axis accepts only positive ranges, so the range is set first.
  x->setRange(view.range().first, view.range().second);
  x->setScaleType(view.log() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  x->setRange(view.range().first, view.range().second);
  y_axis->setRange(y.first, y.second);
  y_axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  y_axis->setRange(y.first, y.second);
  const QFontMetricsF metrics(font);
  const int most = std::clamp(static_cast<int>(height / (metrics.height() * 1.8)), 3, 7);
  const Ticks ticks = log ? log_ticks(y, most) : linear_ticks(y, most, false);
  y_ticks_->setTicks(ticks.places, ticks.labels);
  double widest = 0;
  for (const QString& label : ticks.labels)
    widest = std::max(widest, metrics.horizontalAdvance(label));
  return widest;
}

void Panel::set_colors(const Theme& theme, const QFont& font) {
  for (QCPAxis* axis : rect_->axes(QCPAxis::atBottom | QCPAxis::atLeft)) {
    axis->setTickLabelColor(theme.color(Role::dimmed));
    axis->setTickLabelFont(font);
    axis->grid()->setPen(QPen(theme.color(Role::grid), 1));
  }
}

void Panel::set_lowest(bool lowest) {
  rect_->axis(QCPAxis::atBottom)->setTickLabels(lowest);
}

} // namespace batchscope::ui
