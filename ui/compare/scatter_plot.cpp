#include "ui/compare/scatter_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/compare/evidence.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr double reach = 8;      // px around a spot
constexpr double room = 0.06;    // of an axis, at both ends
constexpr double least_drag = 4; // px

const CompareField* find_field(const Comparison& comparison, const QString& key) {
  const int index = comparison.field(key);
  return index < 0 ? nullptr : &comparison.fields[static_cast<std::size_t>(index)];
}

/// A place on an axis and half of its 95 % interval, in the axis's unit.
struct Place {
  double mean = 0;
  double half = 0;
};

/// Place of several runs: the mean of a result, or the setting that all of them have; nothing without a value.
std::optional<Place> place_of(const Comparison& comparison, const CompareField& field,
                              const std::vector<std::size_t>& runs) {
  if (!field.has_mean()) {
    const double value = field.numbers[runs.front()];
    return std::isnan(value) ? std::nullopt : std::optional(Place{value * field.factor(), 0});
  }
  const compare::Summary summary = comparison.summary(field, runs);
  return summary.n == 0 ? std::nullopt
                        : std::optional(Place{summary.mean * field.factor(),
                                              compare::half_interval(summary).value_or(0) * field.factor()});
}

/// Whether all runs of each group have the same value, or a mean.
bool has_one_place(const CompareField& field, const RunGroups& groups) {
  return field.has_mean() || std::all_of(groups.groups.begin(), groups.groups.end(), [&](const auto& runs) {
           return std::all_of(runs.begin(), runs.end(),
                              [&](std::size_t run) { return field.ranks[run] == field.ranks[runs.front()]; });
         });
}

} // namespace

ScatterPlot::ScatterPlot(const Theme& theme, ComparisonView& view, QWidget* parent)
    : QWidget(parent), theme_(theme), view_(view) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Scatter plot"));
  setObjectName(QStringLiteral("scatter"));
  connect(&view, &ComparisonView::comparison_changed, this, &ScatterPlot::rebuild);
  connect(&view, &ComparisonView::visible_changed, this, &ScatterPlot::rebuild);
  connect(&view, &ComparisonView::grouping_changed, this, &ScatterPlot::rebuild);
  connect(&view, &ComparisonView::marks_changed, this, QOverload<>::of(&QWidget::update));
  connect(&theme, &Theme::changed, this, QOverload<>::of(&QWidget::update));
}

QSize ScatterPlot::sizeHint() const {
  return {Theme::lines(30), Theme::lines(14)};
}

QSize ScatterPlot::minimumSizeHint() const {
  return {Theme::lines(16), Theme::lines(6)};
}

void ScatterPlot::set_fields(const QString& x, const QString& y) {
  x_key_ = x;
  y_key_ = y;
  rebuild();
}

QString ScatterPlot::title() const {
  return x_ && y_ ? tr("%1 against %2").arg(y_->title(), x_->title()) : QString();
}

void ScatterPlot::rebuild() {
  x_.reset();
  y_.reset();
  spots_.clear();
  const Comparison& comparison = view_.comparison();
  const CompareField* x = find_field(comparison, x_key_);
  const CompareField* y = find_field(comparison, y_key_);
  if (x && y) {
    std::vector<bool> shown(comparison.runs().size(), false);
    for (const std::size_t run : view_.visible())
      shown[run] = true;
    // Texts, and settings in which the runs of a group differ, have no mean: runs are points of their own.
    RunGroups groups =
        view_.groups().field.isEmpty() ? group_by(comparison, QStringLiteral("repeats")) : view_.groups();
    if (x->ordinal || y->ordinal || !has_one_place(*x, groups) || !has_one_place(*y, groups))
      groups = group_by(comparison, {});
    for (std::vector<std::size_t>& runs : groups.groups)
      std::erase_if(runs, [&](std::size_t run) { return !shown[run]; });
    std::erase_if(groups.groups, [](const auto& runs) { return runs.empty(); });
    for (auto [field, axis] : {std::pair(x, &x_), std::pair(y, &y_)}) {
      axis->emplace(*field, view_.visible(), FieldAxis::Scale::automatic, false);
      for (const std::vector<std::size_t>& runs : groups.groups)
        if (const auto place = x->ordinal || y->ordinal ? std::nullopt : place_of(comparison, *field, runs)) {
          (*axis)->include(place->mean - place->half);
          (*axis)->include(place->mean + place->half);
        }
      (*axis)->widen(room);
    }
    for (std::size_t group = 0; group < groups.groups.size(); ++group) {
      Spot spot;
      spot.runs = groups.groups[group];
      if (x->ordinal || y->ordinal) {
        const auto at_x = x_->place(spot.runs.front());
        const auto at_y = y_->place(spot.runs.front());
        if (!at_x || !at_y)
          continue;
        spot.at = {*at_x, *at_y};
        spot.values = {x->numbers[spot.runs.front()], y->numbers[spot.runs.front()]};
      } else {
        const auto across = place_of(comparison, *x, spot.runs);
        const auto up = place_of(comparison, *y, spot.runs);
        if (!across || !up)
          continue;
        spot.values = {across->mean, up->mean};
        spot.at = {x_->place_of(across->mean), y_->place_of(up->mean)};
        spot.across = across->half > 0 ? std::abs(x_->place_of(across->mean + across->half) - spot.at.x()) : 0;
        spot.up = up->half > 0 ? std::abs(y_->place_of(up->mean + up->half) - spot.at.y()) : 0;
      }
      const auto& settings = comparison.fields;
      if (!settings.empty() && settings.front().origin == CompareField::Origin::setting)
        spot.label = settings.front().text(spot.runs.front());
      spots_.push_back(std::move(spot));
    }
  }
  find_front();
  update();
}

/// The spots that no other one beats in both fields, if both have a better direction.
void ScatterPlot::find_front() {
  front_.clear();
  front_spots_.clear();
  const CompareField* x = find_field(view_.comparison(), x_key_);
  const CompareField* y = find_field(view_.comparison(), y_key_);
  if (!x || !y || x->ordinal || y->ordinal || !x->larger_is_better() || !y->larger_is_better())
    return;
  const double x_sign = *x->larger_is_better() ? 1 : -1;
  const double y_sign = *y->larger_is_better() ? 1 : -1;
  std::vector<std::size_t> order(spots_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  const auto key = [&](std::size_t i) {
    return std::pair(-x_sign * spots_[i].values.x(), -y_sign * spots_[i].values.y());
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  double best = -std::numeric_limits<double>::infinity();
  for (const std::size_t i : order)
    if (const double value = y_sign * spots_[i].values.y(); value > best) {
      best = value;
      front_spots_.push_back(i);
    }
  std::sort(front_spots_.begin(), front_spots_.end(),
            [&](std::size_t a, std::size_t b) { return spots_[a].at.x() < spots_[b].at.x(); });
  for (const std::size_t i : front_spots_)
    front_.push_back(spots_[i].runs.front());
}

QRectF ScatterPlot::plot_rect() const {
  return QRectF(rect()).adjusted(Theme::lines(3.2), Theme::lines(0.6), -Theme::lines(0.8), -Theme::lines(2.5));
}

QPointF ScatterPlot::on_screen(const QPointF& place) const {
  const QRectF plot = plot_rect();
  return {plot.left() + place.x() * plot.width(), plot.bottom() - place.y() * plot.height()};
}

const ScatterPlot::Spot* ScatterPlot::spot_of(std::size_t run) const {
  for (const Spot& spot : spots_)
    if (std::find(spot.runs.begin(), spot.runs.end(), run) != spot.runs.end())
      return &spot;
  return nullptr;
}

std::optional<QPointF> ScatterPlot::position(std::size_t run) const {
  const Spot* spot = spot_of(run);
  return spot ? std::optional(on_screen(spot->at)) : std::nullopt;
}

std::optional<QPointF> ScatterPlot::values(std::size_t run) const {
  const Spot* spot = spot_of(run);
  return spot ? std::optional(spot->values) : std::nullopt;
}

const ScatterPlot::Spot* ScatterPlot::spot_at(const QPointF& at) const {
  const Spot* nearest = nullptr;
  double least = reach;
  for (const Spot& spot : spots_) {
    const QPointF off = on_screen(spot.at) - at;
    if (const double distance = std::hypot(off.x(), off.y()); distance < least) {
      least = distance;
      nearest = &spot;
    }
  }
  return nearest;
}

void ScatterPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton)
    pressed_ = pointer_ = event->position();
}

void ScatterPlot::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->position();
  if (pressed_)
    update();
}

void ScatterPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_)
    return;
  const QPointF from = *std::exchange(pressed_, std::nullopt);
  const QRectF area = QRectF(from, event->position()).normalized();
  const bool more = event->modifiers().testFlag(Qt::ControlModifier) || event->modifiers().testFlag(Qt::ShiftModifier);
  std::vector<std::size_t> runs = more ? view_.marked_runs() : std::vector<std::size_t>{};
  const auto add = [&](const Spot& spot) { runs.insert(runs.end(), spot.runs.begin(), spot.runs.end()); };
  if (area.width() < least_drag && area.height() < least_drag) {
    if (const Spot* spot = spot_at(from))
      add(*spot);
  } else {
    for (const Spot& spot : spots_)
      if (area.contains(on_screen(spot.at)))
        add(spot);
  }
  view_.mark(runs, this);
  update();
}

void ScatterPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    view_.clear_marks();
    return;
  }
  const bool forward = event->key() == Qt::Key_Right;
  if ((!forward && event->key() != Qt::Key_Left) || spots_.empty()) {
    QWidget::keyPressEvent(event);
    return;
  }
  // From spot to spot, in the order of x.
  std::vector<const Spot*> order;
  for (const Spot& spot : spots_)
    order.push_back(&spot);
  std::stable_sort(order.begin(), order.end(), [](const Spot* a, const Spot* b) { return a->at.x() < b->at.x(); });
  auto now = std::find_if(order.begin(), order.end(),
                          [&](const Spot* spot) { return view_.marking() && view_.marked(spot->runs.front()); });
  if (now == order.end())
    now = forward ? order.begin() : std::prev(order.end());
  else if (forward ? std::next(now) != order.end() : now != order.begin())
    now += forward ? 1 : -1;
  view_.mark((*now)->runs, this);
}

QString ScatterPlot::describe(const Spot& spot) const {
  const CompareField* x = find_field(view_.comparison(), x_key_);
  const CompareField* y = find_field(view_.comparison(), y_key_);
  const std::size_t run = spot.runs.front();
  const auto value = [&](const CompareField& field, double mean) {
    return field.ordinal ? field.text(run) : field.text_of(mean / field.factor());
  };
  const QString name =
      spot.runs.size() == 1
          ? view_.comparison().run_name(run)
          : tr("%1 and %n more", nullptr, int(spot.runs.size()) - 1).arg(view_.comparison().run_name(run));
  return tr("%1\n%2: %3\n%4: %5").arg(name, x->title, value(*x, spot.values.x()), y->title, value(*y, spot.values.y()));
}

bool ScatterPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip)
    return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  if (const Spot* spot = spot_at(help->pos()))
    QToolTip::showText(help->globalPos(), describe(*spot), this);
  else
    QToolTip::hideText();
  return true;
}

} // namespace batchscope::ui

#include "moc_scatter_plot.cpp"
