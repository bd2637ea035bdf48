#include "ui/find/search_plots.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <map>

#include "ui/plot/units.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Ids of the marks of answers and of the knee; the marks of trials have the trial's number.
constexpr qint64 first_answer_mark = 1'000'000;
constexpr qint64 knee_mark = 2'000'000;
/// The x axis extends to this multiple of the largest size of interest.
constexpr double beyond = 1.25;

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) * to_megabytes;
}

/// The end of the x axis: a little beyond the largest size that ran and fitted or, with a prediction, is expected to.
double end_of(const SearchView& view) {
  std::int64_t largest = 1;
  for (const auto* runs : {&view.probes, &view.checks})
    for (const search::Probe& probe : *runs)
      largest = std::max(largest, probe.batch);
  if (view.memory && view.budget > 0 && !view.found()) {
    const auto& points = view.memory->points();
    const auto over = std::find_if(points.begin(), points.end(),
                                   [&](const predict::PeakCurve::Point& point) { return point.bytes > view.budget; });
    largest = std::max(largest, over != points.end() ? over->batch : points.back().batch);
  }
  return std::ceil(static_cast<double>(largest) * beyond);
}

struct CurvePoints {
  std::vector<double> x, y;
};

/// The predicted curve up to `end`: its own points, and one at the end.
CurvePoints points_of(const predict::PeakCurve& memory, double end) {
  CurvePoints points;
  for (const auto& point : memory.points()) {
    if (static_cast<double>(point.batch) >= end)
      break;
    points.x.push_back(static_cast<double>(point.batch));
    points.y.push_back(megabytes(point.bytes));
  }
  points.x.push_back(end);
  points.y.push_back(megabytes(memory.at(static_cast<std::int64_t>(end)).bytes));
  return points;
}

/// Measured peaks by size.
CurvePoints measured_points(const SearchView& view) {
  std::map<std::int64_t, double> peaks;
  for (const auto* runs : {&view.probes, &view.checks})
    for (const search::Probe& probe : *runs)
      if (probe.outcome == search::Outcome::fits && probe.peak_bytes)
        peaks[probe.batch] = megabytes(*probe.peak_bytes);
  CurvePoints points;
  for (const auto& [batch, peak] : peaks) {
    points.x.push_back(static_cast<double>(batch));
    points.y.push_back(peak);
  }
  return points;
}

/// y of a trial's mark: its peak, or the limit if it did not fit.
std::optional<double> height_of(const SearchView& view, const ProbeRow& row) {
  if (row.real)
    return megabytes(*row.real);
  if (view.budget > 0 && row.result == ProbeRow::Result::out_of_memory)
    return megabytes(view.budget);
  return std::nullopt;
}

PlotMark mark_of(const SearchView& view, const ProbeRow& row, int panel, const QString& label) {
  PlotMark mark;
  mark.id = row.number;
  mark.kind = row.result == ProbeRow::Result::fits ? PlotMark::Kind::fits : PlotMark::Kind::oom;
  mark.x = static_cast<double>(row.batch);
  mark.panel = panel;
  mark.y = height_of(view, row);
  mark.label = label;
  return mark;
}

/// Label of the recommended size.
QString knee_text(const search::Timing& timing, double best) {
  const QString text = timing.examples_per_second >= best ? SearchPlots::tr("fastest")
                                                          : SearchPlots::tr("≥ 95 % of the best throughput");
  return timing.disturbed() ? SearchPlots::tr("%1, estimated while other programs were running").arg(text) : text;
}

} // namespace

SearchPlots::SearchPlots(const Theme& theme, QWidget* parent)
    : QWidget(parent), plots_(new LinkedPlots(theme, this)), predicted_(std::make_shared<PointsCurve>()),
      measured_(std::make_shared<PointsCurve>()), rates_(std::make_shared<PointsCurve>()) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(plots_);
  memory_ = plots_->add_panel({.key = QStringLiteral("memory"),
                               .title = tr("Peak memory by batch size"),
                               .unit = QStringLiteral("MB"),
                               .height = 1.7,
                               .lowest_top = {}});
  throughput_ = plots_->add_panel({.key = QStringLiteral("throughput"),
                                   .title = tr("Throughput"),
                                   .unit = tr("examples/s"),
                                   .height = 1,
                                   .lowest_top = {}});
  plots_->set_x_label(tr("batch size"));
  plots_->set_x_values(XValues::whole);
  plots_->show_crosshair_values();
  measured_curve_ = plots_->add_curve(memory_, measured_, {.series = 0, .role = {}, .faint = true});
  predicted_curve_ = plots_->add_curve(memory_, predicted_, {.series = 0, .role = {}, .dashed = true});
  plots_->add_curve(throughput_, rates_, {.series = 2, .role = {}, .points = true});
  connect(plots_, &LinkedPlots::mark_chosen, this, [this](qint64 id) {
    if (id < first_answer_mark)
      Q_EMIT chosen(static_cast<int>(id));
  });
}

void SearchPlots::choose(int number) {
  plots_->choose_mark(number > 0 ? std::optional<qint64>(number) : std::nullopt);
}

void SearchPlots::set_log(bool log) {
  plots_->set_log_x(log);
}

void SearchPlots::show_search(const SearchView& view) {
  show_memory(view);
  show_throughput(view);
  show_bands(view);
  show_marks(view);
  show_arrows(view);
  plots_->set_end(end_of(view));
  // Shows the whole range when a search begins or ends.
  if (view.found() != found_ || view.probes.size() < probes_)
    plots_->show_all();
  found_ = view.found();
  probes_ = view.probes.size();
  plots_->refresh();
}

void SearchPlots::show_memory(const SearchView& view) {
  CurvePoints measured = measured_points(view);
  CurvePoints predicted = view.memory ? points_of(*view.memory, end_of(view)) : CurvePoints{};
  // In the legend only if there are values. A prediction passes through the measured values.
  if (predicted_drawn_ != view.memory.has_value()) {
    predicted_drawn_ = view.memory.has_value();
    plots_->set_style(
        predicted_curve_,
        {.name = predicted_drawn_ ? tr("predicted") : QString(), .series = 0, .role = {}, .dashed = true});
    plots_->set_style(measured_curve_, {.name = {}, .series = 0, .role = {}, .faint = true, .line = !predicted_drawn_});
  }
  measured_->set(measured.x, measured.y);
  predicted_->set(predicted.x, predicted.y);
  QList<PlotLimit> limits;
  const auto fitted = largest_so_far(view);
  const auto peak = fitted ? peak_at(view, *fitted) : std::nullopt;
  const QString label = peak && above_budget(view, *peak) ? tr("budget %1 + libraries") : tr("budget %1");
  if (view.budget > 0)
    limits << PlotLimit{memory_, megabytes(view.budget), label.arg(format_bytes(static_cast<double>(view.budget)))};
  plots_->set_limits(limits);
}

/// The prediction's error, and the range of a size's timed stretches.
void SearchPlots::show_bands(const SearchView& view) {
  QList<PlotBand> bands;
  if (view.memory) {
    const CurvePoints predicted = points_of(*view.memory, end_of(view));
    PlotBand band{memory_, predicted.x, predicted.y, predicted.y, 0};
    for (double& low : band.low)
      low *= 1 - std::min(view.memory->error(), 1.0);
    for (double& high : band.high)
      high *= 1 + view.memory->error();
    bands << band;
  }
  PlotBand spread{throughput_, {}, {}, {}, 2};
  for (const search::Timing& timing : view.timings) {
    spread.x.push_back(static_cast<double>(timing.batch));
    spread.low.push_back(timing.slowest);
    spread.high.push_back(timing.fastest);
  }
  if (spread.x.size() > 1)
    bands << spread;
  plots_->set_bands(bands);
}

void SearchPlots::show_throughput(const SearchView& view) {
  std::vector<double> batches;
  std::vector<double> rates;
  for (const search::Timing& timing : view.timings) {
    batches.push_back(static_cast<double>(timing.batch));
    rates.push_back(timing.examples_per_second);
  }
  plots_->set_panel_visible(throughput_, !rates.empty());
  rates_->set(batches, rates);
}

void SearchPlots::show_marks(const SearchView& view) {
  std::map<std::int64_t, QString> names; // of answers, by size
  for (const NamedAnswer& answer : answers_of(view))
    names[answer.batch] += (names[answer.batch].isEmpty() ? QString() : QStringLiteral(", ")) + answer.name;

  // Labels are placed in the order of the marks, so those of answers come first.
  QList<PlotMark> answers;
  QList<PlotMark> runs;
  for (const ProbeRow& row : rows_of(view)) {
    if (row.number == 0)
      continue;
    const auto name = row.result == ProbeRow::Result::fits ? names.find(row.batch) : names.end();
    if (name == names.end()) {
      runs << mark_of(view, row, memory_, QString::number(row.number));
      continue;
    }
    answers << mark_of(view, row, memory_, tr("%1 · %2 %3").arg(row.number).arg(name->second, format_count(row.batch)));
    names.erase(name);
  }
  qint64 id = first_answer_mark;
  for (const auto& [batch, name] : names) { // sizes that were timed, but not run by the search
    const auto peak = peak_at(view, batch);
    if (!peak)
      continue; // its height is unknown; it is in the throughput plot below
    answers << PlotMark{id++,    PlotMark::Kind::answer, static_cast<double>(batch),
                        memory_, megabytes(peak->bytes), tr("%1 %2").arg(name, format_count(batch))};
  }
  const auto knee = search::knee(view.timings);
  double best = 0;
  for (const search::Timing& timing : view.timings)
    best = std::max(best, timing.examples_per_second);
  for (const search::Timing& timing : view.timings)
    if (view.timings.size() > 1 && timing.batch == knee)
      answers << PlotMark{knee_mark,   PlotMark::Kind::answer,     static_cast<double>(timing.batch),
                          throughput_, timing.examples_per_second, knee_text(timing, best)};
  plots_->set_marks(answers + runs);
}

/// Arrows from each size to the smaller one that was run next.
void SearchPlots::show_arrows(const SearchView& view) {
  QList<PlotArrow> arrows;
  const std::vector<ProbeRow> rows = rows_of(view);
  for (std::size_t i = 1; i < rows.size() && rows[i].number > 0 && !rows[i].check; ++i) {
    const auto from = height_of(view, rows[i - 1]);
    const auto to = height_of(view, rows[i]);
    if (rows[i].batch < rows[i - 1].batch && from && to)
      arrows << PlotArrow{memory_, static_cast<double>(rows[i - 1].batch), *from, static_cast<double>(rows[i].batch),
                          *to};
  }
  plots_->set_arrows(arrows);
}

} // namespace batchscope::ui

#include "moc_search_plots.cpp"
