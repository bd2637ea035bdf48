#include "core/series/history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/utc.h"

namespace batchscope::series {

namespace {

std::size_t place_in_row(const std::string& name) {
  const auto& names = telemetry::step_series();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// What a program measures at some steps only: in between, the last value holds.
const std::array<std::size_t, 2>& measured_at_times() {
  static const std::array<std::size_t, 2> places = {place_in_row("allocated_bytes"), place_in_row("reserved_bytes")};
  return places;
}

} // namespace

void Frame::append(const Place& where) {
  for (std::size_t axis = 0; axis < where.size(); ++axis) {
    Column<double>& x = x_[axis];
    const double lowest = x.empty() ? std::numeric_limits<double>::lowest() : x.back();
    if (std::isfinite(where[axis]) && where[axis] >= lowest)
      x.append(where[axis]);
    else
      x.append(x.empty() ? 0 : lowest);
  }
}

History::History() : steps_(std::make_shared<Frame>()), device_bytes_(place_in_row("device_bytes")) {
  for (const std::string& name : telemetry::step_series())
    of_steps_.push_back({name, steps_, {}});
}

void History::append(const telemetry::StepRecord& record) {
  if (std::isfinite(record.seconds))
    last_seconds_ = record.seconds;
  const Place where = {static_cast<double>(record.step), static_cast<double>(record.examples_seen), record.epoch,
                       record.seconds, last_seconds_ + clock_ahead_};
  telemetry::row(record, row_);
  for (const std::size_t place : measured_at_times())
    if (const auto& before = of_steps_[place].values; std::isnan(row_[place]) && before.size() > 0)
      row_[place] = before[before.size() - 1];
  steps_->append(where);
  for (std::size_t i = 0; i < row_.size(); ++i)
    of_steps_[i].values.append(row_[i]);
  for (const auto& [name, value] : record.more)
    append_other(name, value, where);
  ++revision_;
}

/// The clock goes on while a run is paused, or over for a while; its seconds do not.
void History::set_clock(const telemetry::Event& event) {
  const std::string* at = nullptr;
  if (const auto* change = std::get_if<telemetry::StatusChange>(&event.body))
    at = &change->at;
  else if (const auto* resumed = std::get_if<telemetry::Resumed>(&event.body))
    at = &resumed->at;
  if (at != nullptr && !at->empty())
    clock_ahead_ = std::max(clock_ahead_, unix_seconds(*at) - event.seconds);
}

void History::append(const telemetry::Event& event) {
  set_clock(event);
  const double seconds = std::max(event.seconds, position(event.step, Axis::seconds).value_or(0));
  if (!event.values.empty()) {
    const Place where = {static_cast<double>(event.step), position(event.step, Axis::examples).value_or(0),
                         position(event.step, Axis::epoch).value_or(0), seconds, seconds + clock_ahead_};
    for (const auto& [name, value] : event.values)
      append_other(name, value, where);
  }
  if (telemetry::has_happened(event)) {
    events_.push_back(event);
    event_clocks_.push_back(seconds + clock_ahead_);
  }
  ++revision_;
}

void History::append_other(const std::string& name, double value, const Place& where) {
  const bool taken = place_in_row(name) < of_steps_.size();
  Other& other = others_[taken ? "other." + name : name];
  if (!other.frame) {
    other.frame = std::make_shared<Frame>();
    other.series = {taken ? "other." + name : name, other.frame, {}};
  }
  other.frame->append(where);
  other.series.values.append(value);
}

bool History::carries(const Series& series) const {
  const Pyramid& values = series.values;
  return values.size() > 0 && (&series != &of_steps_[device_bytes_] || values.extremes(0, values.size()).finite > 0);
}

const Series* History::find(const std::string& name) const {
  if (const std::size_t place = place_in_row(name); place < of_steps_.size())
    return carries(of_steps_[place]) ? &of_steps_[place] : nullptr;
  const auto other = others_.find(name);
  return other != others_.end() ? &other->second.series : nullptr;
}

std::vector<std::string> History::others() const {
  std::vector<std::string> names;
  for (const auto& [name, other] : others_)
    names.push_back(name);
  return names;
}

std::optional<double> History::position(std::int64_t step, Axis axis) const {
  if (axis == Axis::step)
    return static_cast<double>(step);
  const std::size_t index = index_at(steps_->x(Axis::step), static_cast<double>(step));
  if (index == SIZE_MAX)
    return std::nullopt;
  return steps_->x(axis)[index];
}

std::optional<std::int64_t> History::step_at(double position, Axis axis) const {
  const std::size_t index = index_at(steps_->x(axis), position);
  if (index == SIZE_MAX)
    return std::nullopt;
  return static_cast<std::int64_t>(steps_->x(Axis::step)[index]);
}

} // namespace batchscope::series
