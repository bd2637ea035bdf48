#include "ui/compare/field_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace batchscope::ui {

namespace {

/// Numbers that span more than this factor are shown on a logarithmic axis, unless the user chooses.
constexpr double wide = 30;

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

} // namespace

FieldAxis::FieldAxis(const CompareField& field, const std::vector<std::size_t>& runs, Scale scale, bool flipped)
    : key_(field.key), name_(field.title), unit_(field.ordinal ? QString() : field.unit()), ordinal_(field.ordinal),
      flipped_(flipped) {
  if (ordinal_) {
    labels_.resize(static_cast<std::size_t>(field.different));
    for (std::size_t run = 0; run < field.ranks.size(); ++run)
      if (field.ranks[run] >= 0)
        labels_[static_cast<std::size_t>(field.ranks[run])] = field.text(run);
    for (const int rank : field.ranks)
      values_.push_back(rank < 0 ? nowhere : rank);
  } else {
    for (const double number : field.numbers)
      values_.push_back(std::isfinite(number) ? number * field.factor() : nowhere);
  }
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const std::size_t run : runs)
    if (std::isfinite(values_[run])) {
      low = std::min(low, values_[run]);
      high = std::max(high, values_[run]);
    }
  if (low > high)
    low = high = 0;
  can_be_log_ = !ordinal_ && low > 0 && high > low;
  log_ = can_be_log_ && (scale == Scale::log || (scale == Scale::automatic && high / low >= wide));
  from_ = position(low);
  to_ = position(high);
}

void FieldAxis::include(double value) {
  const double at = position(value);
  if (!std::isfinite(at))
    return;
  from_ = std::min(from_, at);
  to_ = std::max(to_, at);
}

void FieldAxis::widen(double fraction) {
  const double span = to_ > from_ ? to_ - from_ : std::max(std::abs(from_), 1.0);
  const double room = ordinal_ ? 0.5 : span * fraction;
  from_ -= room;
  to_ += room;
}

double FieldAxis::place_of(double value) const {
  if (!(to_ > from_))
    return 0.5;
  const double place = (position(value) - from_) / (to_ - from_);
  return flipped_ ? 1 - place : place;
}

std::optional<double> FieldAxis::place(std::size_t run) const {
  const double value = values_[run];
  return std::isfinite(value) && (!log_ || value > 0) ? std::optional(place_of(value)) : std::nullopt;
}

double FieldAxis::value_at_end(bool high) const {
  const double end = high != flipped_ ? to_ : from_;
  return log_ ? std::pow(10, end) : end;
}

QString FieldAxis::label(double value) const {
  if (!ordinal_)
    return number_text(value, 4);
  const auto rank = std::llround(value);
  return rank >= 0 && rank < std::ssize(labels_) ? labels_[static_cast<std::size_t>(rank)] : QString();
}

QString FieldAxis::title() const {
  return unit_.isEmpty() ? name_ : QStringLiteral("%1 (%2)").arg(name_, unit_);
}

QString FieldAxis::end_label(bool high) const {
  const QString text = label(value_at_end(high));
  return unit_.isEmpty() ? text : text + u' ' + unit_;
}

QString FieldAxis::low_label() const {
  return end_label(false);
}

QString FieldAxis::high_label() const {
  return end_label(true);
}

Ticks FieldAxis::ticks(int most) const {
  Ticks ticks;
  if (ordinal_) {
    const std::size_t every = labels_.size() / static_cast<std::size_t>(std::max(1, most)) + 1;
    for (std::size_t rank = 0; rank < labels_.size(); rank += every) {
      ticks.places.append(place_of(static_cast<double>(rank)));
      ticks.labels.append(labels_[rank]);
    }
  } else if (to_ > from_) {
    ticks = log_ ? log_ticks({std::pow(10, from_), std::pow(10, to_)}, most) : linear_ticks({from_, to_}, most, false);
    if (!log_ && ticks.places.size() < 2) // no scale
      ticks = linear_ticks({from_, to_}, 2 * most, false);
    for (double& place : ticks.places)
      place = place_of(place);
  } else {
    ticks.places = {0.5};
    ticks.labels = {label(log_ ? std::pow(10, from_) : from_)};
  }
  return ticks;
}

} // namespace batchscope::ui
