#include "ui/compare/curves_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

#include "core/compare/evidence.h"
#include "core/telemetry/series_info.h"
#include "ui/compare/mean_curve.h"
#include "ui/plot/linked_plots.h"
#include "ui/plot/units.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr int soon_ms = 120;
constexpr std::size_t most_curves = 300;      ///< more are not drawn
constexpr std::size_t points_of_others = 300; ///< of the runs in the background, each
constexpr int over_tokens = -1;               ///< in the list of axes, instead of a series::Axis
constexpr std::size_t most_names = 8;         ///< in the legend; of more curves the table has the colours

/// Shown unless the user chooses, the first one that there is. Validations are a curve only where there are several.
QStringList preferred(const Comparison& comparison) {
  constexpr std::size_t several = 3;
  const bool curve = std::any_of(comparison.runs().begin(), comparison.runs().end(),
                                 [](const compare::ComparedRun& run) { return run.losses.size() >= several; });
  QStringList names{QStringLiteral("validation_loss"), QStringLiteral("loss")};
  if (!curve)
    std::reverse(names.begin(), names.end());
  return names;
}

/// A field of the series, for its title and unit; null if no run has it.
const CompareField* field_of(const Comparison& comparison, const QString& series) {
  const int index = comparison.field(series + QStringLiteral(":last"));
  return index < 0 ? nullptr : &comparison.fields[static_cast<std::size_t>(index)];
}

} // namespace

CurvesCard::CurvesCard(const Theme& theme, ComparisonView& view, const std::filesystem::path& database, QWidget* parent)
    : Card({}, parent), theme_(theme), view_(view), reader_(database, this), series_(new QComboBox(this)),
      axis_(new QComboBox(this)), note_(new ElidedLabel(Qt::ElideRight, this)) {
  series_->setAccessibleName(tr("Series of the curves"));
  series_->setObjectName(QStringLiteral("curve-series"));
  axis_->setAccessibleName(tr("Horizontal axis of the curves"));
  axis_->setObjectName(QStringLiteral("curve-axis"));
  axis_->addItem(tr("steps"), static_cast<int>(series::Axis::step));
  axis_->addItem(tr("examples"), static_cast<int>(series::Axis::examples));
  axis_->addItem(tr("epochs"), static_cast<int>(series::Axis::epoch));
  axis_->addItem(tr("time (s)"), static_cast<int>(series::Axis::seconds));
  note_->setProperty("kind", QStringLiteral("dimmed"));
  auto* row = new QHBoxLayout;
  row->addWidget(series_);
  row->addWidget(dimmed_label(tr("over"), this));
  row->addWidget(axis_);
  row->addStretch();
  row->addWidget(note_);
  body()->addLayout(row);
  make_plots();
  connect(series_, &QComboBox::activated, this, [this] {
    wanted_series_ = series_->currentData().toString();
    make_plots();
    request();
  });
  connect(axis_, &QComboBox::activated, this, [this] {
    make_plots();
    request();
  });
  soon_.setSingleShot(true);
  soon_.setInterval(soon_ms);
  connect(&soon_, &QTimer::timeout, this, &CurvesCard::request);
  connect(&view, &ComparisonView::comparison_changed, this, [this] {
    fill_series();
    request();
  });
  connect(&view, &ComparisonView::visible_changed, this, &CurvesCard::request_soon);
  connect(&view, &ComparisonView::marks_changed, this, &CurvesCard::request_soon);
  connect(&reader_, &CurveReader::read_so_far, this, [this](const auto& curves) {
    curves_ = curves;
    draw();
  });
}

/// Axis of the curves; it does not matter for points over tokens.
series::Axis CurvesCard::axis() const {
  return over().empty() ? static_cast<series::Axis>(axis_->currentData().toInt()) : series::Axis::step;
}

std::string CurvesCard::over() const {
  return axis_->currentData().toInt() == over_tokens ? telemetry::tokens : "";
}

std::string CurvesCard::series() const {
  return series_->currentData().toString().toStdString();
}

void CurvesCard::fill_series() {
  QStringList names;
  for (const CompareField& field : view_.comparison().fields)
    if (field.key.endsWith(QLatin1String(":last")))
      names.append(field.key.chopped(5));
  QStringList shown;
  for (int i = 0; i < series_->count(); ++i)
    shown.append(series_->itemData(i).toString());
  const QString before = series_->currentData().toString();
  const bool has_tokens = names.contains(QLatin1String(telemetry::tokens));
  if (const int tokens = axis_->findData(over_tokens); tokens < 0 && has_tokens)
    axis_->addItem(tr("tokens of a step"), over_tokens);
  else if (tokens >= 0 && !has_tokens)
    axis_->removeItem(tokens);
  if (names != shown) {
    series_->clear();
    for (const QString& name : std::as_const(names))
      series_->addItem(series_title(name), name);
  }
  int index = series_->findData(wanted_series_);
  for (const QString& name : preferred(view_.comparison()))
    if (index < 0)
      index = series_->findData(name);
  series_->setCurrentIndex(std::max(index, names.isEmpty() ? -1 : 0));
  if (series_->currentData().toString() != before)
    make_plots();
}

/// A panel has one title, so another series gets another plot.
void CurvesCard::make_plots() {
  delete plots_;
  plots_ = new LinkedPlots(theme_, this);
  const QString name = series_->currentData().toString();
  const CompareField* field = field_of(view_.comparison(), name);
  plots_->add_panel({.key = name.isEmpty() ? QStringLiteral("series") : name,
                     .title = tr("%1 over %2").arg(series_title(name), axis_->currentText()),
                     .unit = field ? field->unit() : QString(),
                     .from_zero = false});
  plots_->set_x_values(axis() == series::Axis::step || axis() == series::Axis::examples ? XValues::whole
                                                                                        : XValues::real);
  plots_->set_x_label(axis_->currentText());
  plots_->show_crosshair_values();
  plots_->setMinimumHeight(Theme::lines(5));
  connect(plots_, &LinkedPlots::problem, this, &CurvesCard::problem);
  connect(plots_, &LinkedPlots::saved, this, &CurvesCard::saved);
  body()->addWidget(plots_, 1);
}

void CurvesCard::request_soon() {
  if (!soon_.isActive())
    soon_.start();
}

void CurvesCard::request() {
  soon_.stop();
  std::vector<CurveReader::Request> runs;
  const auto add = [&](std::size_t run, std::size_t most) {
    const store::RunRow& row = view_.comparison().runs()[run].row;
    if (runs.size() < most_curves)
      runs.push_back({row.id, most, row.outcome.steps});
  };
  for (const std::size_t run : view_.emphasized())
    add(run, 0);
  for (const std::size_t run : view_.visible())
    if (!view_.is_emphasized(run))
      add(run, points_of_others);
  const std::size_t all = view_.visible().size();
  drawn_ = runs.size() < all ? tr("%1 of %2 runs").arg(format_count(std::ssize(runs)), format_count(std::int64_t(all)))
                             : QString();
  if (series().empty()) {
    curves_.clear();
    draw();
    return;
  }
  const CompareField* field = field_of(view_.comparison(), series_->currentData().toString());
  reader_.read(runs, series(), field ? field->factor() : 1, axis(), over());
}

/// Whether runs with the same settings are drawn as their mean, since single runs would be too many to follow.
bool CurvesCard::averages() const {
  return over().empty() && view_.emphasized().size() > most_names;
}

/// Draws the means of settings with several emphasized runs, and returns these runs.
std::set<std::size_t> CurvesCard::draw_means() {
  std::set<std::size_t> averaged;
  QList<PlotBand> bands;
  std::vector<std::pair<MeanCurve, CurveStyle>> means;
  for (const compare::Group& group : view_.comparison().compared.groups) {
    const auto has = [this](std::size_t run) { return view_.is_emphasized(run) && curves_.contains(view_.id(run)); };
    const std::vector<std::size_t> runs =
        compare::evidence(view_.comparison().compared, group.runs, telemetry::DependsOn::learning, has);
    if (runs.size() < 2)
      continue;
    std::vector<std::shared_ptr<const PointsCurve>> members;
    for (const std::size_t run : runs)
      members.push_back(curves_.at(view_.id(run)));
    averaged.insert(runs.begin(), runs.end());
    const auto look = view_.look(runs.front());
    const QString label = QString::fromStdString(group.label());
    CurveStyle style{.name = label.isEmpty() ? tr("mean of %1").arg(members.size()) : label,
                     .series = look.value_or(0),
                     .highlighted = true};
    if (!look)
      style.role = Role::accent;
    MeanCurve mean = mean_of(members);
    mean.band.series = look.value_or(0);
    if (!mean.band.x.empty())
      bands += mean.band;
    means.emplace_back(std::move(mean), style);
  }
  if (means.size() > most_names) // more bands hide each other
    bands.clear();
  for (auto& [mean, style] : means) {
    style.points = mean.mean->size() <= 3;
    if (means.size() > most_names)
      style.name.clear();
    plots_->add_curve(0, mean.mean, style);
  }
  plots_->set_bands(bands);
  bands_ = !bands.isEmpty();
  return averaged;
}

void CurvesCard::draw() {
  plots_->clear_curves();
  plots_->set_bands({});
  const std::set<std::size_t> averaged = averages() ? draw_means() : std::set<std::size_t>();
  plots_->set_shared_legend(!averaged.empty());
  QStringList notes{drawn_};
  if (!averaged.empty())
    notes.prepend(bands_ ? tr("mean of finished repeats, 95 % interval") : tr("mean of finished repeats"));
  notes.removeAll(QString());
  note_->setText(notes.join(QStringLiteral("; ")));
  const auto add = [&](std::size_t run) {
    const auto found = curves_.find(view_.id(run));
    if (found == curves_.end())
      return;
    const auto look = view_.look(run);
    CurveStyle style;
    style.line = over().empty();
    style.points = !style.line || found->second->size() <= 3; // no line to see else
    if (averaged.contains(run)) {
      style.series = look.value_or(0);
      style.faint = true;
      if (!look)
        style.role = Role::border;
    } else if (view_.is_emphasized(run)) {
      style.series = look.value_or(0);
      if (!look)
        style.role = Role::accent;
      else if (view_.emphasized().size() <= most_names)
        style.name = view_.comparison().run_name(run);
    } else {
      style.role = Role::border;
      style.faint = true;
      style.points = !style.line;
    }
    plots_->add_curve(0, found->second, style);
  };
  for (const std::size_t run : view_.visible())
    if (!view_.is_emphasized(run))
      add(run);
  for (const std::size_t run : view_.emphasized())
    add(run);
  plots_->refresh();
}

QJsonObject CurvesCard::state() const {
  return {{"series", wanted_series_}, {"axis", axis_->currentData().toInt()}};
}

void CurvesCard::restore(const QJsonObject& state) {
  wanted_series_ = state["series"].toString();
  axis_->setCurrentIndex(std::max(0, axis_->findData(state["axis"].toInt())));
  fill_series();
  make_plots();
  request();
}

} // namespace batchscope::ui

#include "moc_curves_card.cpp"
