#include "ui/compare/parallel_axes.h"

#include <QJsonObject>

#include <algorithm>
#include <array>

namespace batchscope::ui {

namespace {

/// Results on axes unless the user chooses others, in this order.
constexpr std::array<const char*, 5> results{"result:peak_bytes", "result:examples_per_second", "result:seconds",
                                             "result:validation_loss", "result:validation_accuracy"};

bool is_position(const std::vector<ParallelAxes::Axis>& axes, int axis) {
  return axis >= 0 && axis < std::ssize(axes);
}

} // namespace

QList<ParallelAxes::Chosen> ParallelAxes::by_default(const ComparisonView& view) {
  const Comparison& comparison = view.comparison();
  QList<Chosen> chosen;
  QList<Chosen> outcomes;
  const auto add = [&](QList<Chosen>& list, const CompareField& field) {
    if (!view.visible().empty() && view.differs(field))
      list.append({.key = field.key});
  };
  for (const char* key : results)
    if (const int field = comparison.field(QString::fromLatin1(key)); field >= 0)
      add(outcomes, comparison.fields[static_cast<std::size_t>(field)]);
  for (const CompareField& field : comparison.fields)
    if (field.origin == CompareField::Origin::setting && field.key != QLatin1String("seed") &&
        chosen.size() + outcomes.size() < most_by_default)
      add(chosen, field);
  return chosen + outcomes;
}

void ParallelAxes::rebuild(const ComparisonView& view) {
  if (!by_user_)
    chosen_ = by_default(view);
  std::vector<Axis> before = std::exchange(axes_, {});
  has_missing_ = false;
  for (const Chosen& chosen : std::as_const(chosen_)) {
    const int field = view.comparison().field(chosen.key);
    if (field < 0)
      continue; // no run has it; kept for comparisons that have it
    Axis axis{FieldAxis(view.comparison().fields[static_cast<std::size_t>(field)], view.visible(), chosen.scale,
                        chosen.flipped),
              {},
              {}};
    axis.places.reserve(view.visible().size());
    for (const std::size_t run : view.visible()) {
      const auto place = axis.axis.place(run);
      has_missing_ = has_missing_ || !place;
      axis.places.push_back(static_cast<float>(place.value_or(missing_place)));
    }
    const auto same =
        std::find_if(before.begin(), before.end(), [&](const Axis& each) { return each.axis.key() == chosen.key; });
    if (same != before.end() && same->axis.log() == axis.axis.log() && same->axis.flipped() == axis.axis.flipped())
      axis.brush = same->brush;
    axes_.push_back(std::move(axis));
  }
}

void ParallelAxes::choose() {
  QList<Chosen> shown;
  for (const Axis& axis : axes_) {
    const auto same =
        std::find_if(chosen_.begin(), chosen_.end(), [&](const Chosen& each) { return each.key == axis.axis.key(); });
    shown.append(*same);
  }
  chosen_ = shown;
  by_user_ = true;
}

bool ParallelAxes::move(int from, int to) {
  if (!is_position(axes_, from) || !is_position(axes_, to) || from == to)
    return false;
  choose();
  chosen_.move(from, to);
  return true;
}

bool ParallelAxes::remove(int axis) {
  if (!is_position(axes_, axis) || axes_.size() <= 2)
    return false;
  choose();
  chosen_.removeAt(axis);
  return true;
}

bool ParallelAxes::add(const QString& key) {
  if (std::any_of(axes_.begin(), axes_.end(), [&](const Axis& each) { return each.axis.key() == key; }))
    return false;
  choose();
  chosen_.append({.key = key});
  return true;
}

bool ParallelAxes::set_log(int axis, bool log) {
  if (!is_position(axes_, axis) || (log && !axes_[static_cast<std::size_t>(axis)].axis.can_be_log()))
    return false;
  choose();
  chosen_[axis].scale = log ? FieldAxis::Scale::log : FieldAxis::Scale::linear;
  return true;
}

bool ParallelAxes::flip(int axis) {
  if (!is_position(axes_, axis))
    return false;
  choose();
  chosen_[axis].flipped = !chosen_[axis].flipped;
  return true;
}

bool ParallelAxes::reset() {
  by_user_ = false;
  return true;
}

void ParallelAxes::brush(int axis, const std::optional<std::pair<double, double>>& range) {
  if (is_position(axes_, axis))
    axes_[static_cast<std::size_t>(axis)].brush = range;
}

void ParallelAxes::clear_brushes() {
  for (Axis& axis : axes_)
    axis.brush.reset();
}

bool ParallelAxes::brushed() const {
  return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.brush.has_value(); });
}

std::vector<std::size_t> ParallelAxes::inside(const ComparisonView& view) const {
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < view.visible().size(); ++i)
    if (std::all_of(axes_.begin(), axes_.end(), [i](const Axis& axis) {
          return !axis.brush || (axis.places[i] >= axis.brush->first && axis.places[i] <= axis.brush->second);
        }))
      runs.push_back(view.visible()[i]);
  return runs;
}

QJsonArray ParallelAxes::state() const {
  QJsonArray state;
  if (by_user_)
    for (const Chosen& chosen : chosen_)
      state.append(
          QJsonObject{{"field", chosen.key}, {"scale", static_cast<int>(chosen.scale)}, {"flipped", chosen.flipped}});
  return state;
}

void ParallelAxes::restore(const QJsonArray& state) {
  chosen_.clear();
  for (const QJsonValue& value : state) {
    const QJsonObject kept = value.toObject();
    const int scale = kept["scale"].toInt();
    if (kept["field"].isString() && scale >= 0 && scale <= static_cast<int>(FieldAxis::Scale::log))
      chosen_.append({kept["field"].toString(), static_cast<FieldAxis::Scale>(scale), kept["flipped"].toBool()});
  }
  by_user_ = !chosen_.isEmpty();
}

} // namespace batchscope::ui
