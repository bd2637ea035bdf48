#include "core/predict/peak_curve.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/json.h"

namespace batchscope::predict {

namespace {

using Point = PeakCurve::Point;

/// All sizes up to this are replayed: rounding matters most for the smallest steps.
constexpr std::int64_t all_up_to = 16;
constexpr std::size_t max_points = 64;
/// An interval whose midpoint deviates less than this from its chord is not refined. The distance of a convex piecewise
/// linear curve from its chord decreases at most linearly on both sides of its maximum, so at the midpoint it is at
/// least half the maximum.
constexpr double near_enough = 0.001;
/// More points than any curve has; longer input is rejected.
constexpr std::size_t max_points_read = 4096;

Point replayed(const MemoryModel& model, std::int64_t batch) {
  const Peak peak = model.peak(batch);
  return {batch, peak.bytes, peak.onto_gradients, peak.by};
}

std::uint64_t between(std::uint64_t low, std::uint64_t high, double fraction) {
  const double value = static_cast<double>(low) + (static_cast<double>(high) - static_cast<double>(low)) * fraction;
  return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0)));
}

/// The point on the straight line through two points, between or beyond them.
Point on_line(const Point& low, const Point& high, std::int64_t batch) {
  const double fraction = static_cast<double>(batch - low.batch) / static_cast<double>(high.batch - low.batch);
  Point point{
      batch, between(low.bytes, high.bytes, fraction), between(low.onto_gradients, high.onto_gradients, fraction), {}};
  for (int use = 0; use < telemetry::use_count; ++use)
    point.by[use] = between(low.by[use], high.by[use], fraction);
  return point;
}

double relative_difference(std::uint64_t line, std::uint64_t replay) {
  return std::abs(static_cast<double>(line) - static_cast<double>(replay)) / std::max(static_cast<double>(replay), 1.0);
}

/// An interval between two neighbouring points, and the replayed point at its middle.
struct Interval {
  double off = 0; ///< relative distance of the middle from the chord
  Point middle;
  std::int64_t from = 0;
};

using Points = std::map<std::int64_t, Point>;

void add_interval(const MemoryModel& model, const Points& points, std::int64_t from, std::vector<Interval>& intervals) {
  const auto low = points.find(from);
  const auto high = std::next(low);
  if (high == points.end() || high->first - low->first < 2)
    return;
  Interval interval{0, replayed(model, low->first + (high->first - low->first) / 2), from};
  const Point line = on_line(low->second, high->second, interval.middle.batch);
  interval.off = std::max(relative_difference(line.bytes, interval.middle.bytes),
                          relative_difference(line.onto_gradients, interval.middle.onto_gradients));
  if (interval.off > near_enough)
    intervals.push_back(interval);
}

/// Repeatedly halves the interval with the largest deviation.
void refine(const MemoryModel& model, Points& points) {
  std::vector<Interval> intervals;
  for (const auto& [batch, point] : points)
    add_interval(model, points, batch, intervals);
  const auto better = [](const Interval& a, const Interval& b) { return a.off < b.off; };
  while (!intervals.empty() && points.size() < max_points) {
    const auto worst = std::max_element(intervals.begin(), intervals.end(), better);
    const Interval halved = *worst;
    intervals.erase(worst);
    points.emplace(halved.middle.batch, halved.middle);
    add_interval(model, points, halved.from, intervals);
    add_interval(model, points, halved.middle.batch, intervals);
  }
}

/// Where the values of a row stand: a version may know other uses of memory.
class Columns {
public:
  /// Without names: those of the first versions.
  explicit Columns(const Json& json) {
    const auto names = json.find("columns");
    if (names == json.end() || !names->is_array()) {
      for (std::size_t i = 0; i < places_.size(); ++i)
        places_[i] = i;
      count_ = places_.size();
      return;
    }
    count_ = names->size();
    for (std::size_t i = 0; i < count_; ++i)
      if (const auto place = free_place((*names)[i]))
        places_[*place] = i;
  }

  /// Nothing for a row of another form, or without a size and its bytes.
  std::optional<Point> point(const Json& row) const {
    if (!row.is_array() || row.size() != count_)
      return std::nullopt;
    std::array<std::uint64_t, number_of_values> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!places_[i] && i < first_use)
        return std::nullopt;
      const Json value = places_[i] ? row[*places_[i]] : Json(0U);
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX)
        return std::nullopt;
      values[i] = value.get<std::uint64_t>();
    }
    Point point{static_cast<std::int64_t>(values[0]), values[1], values[2], {}};
    std::copy(values.begin() + first_use, values.end(), point.by.begin());
    return point;
  }

private:
  static constexpr std::size_t first_use = 3;
  static constexpr std::size_t number_of_values = first_use + telemetry::use_count;

  /// The place of a column among the values of a point; nothing for one that is not known. Two are called `batch`: the
  /// size, which comes first, and the memory of its examples.
  std::optional<std::size_t> free_place(const Json& name) const {
    constexpr std::array<const char*, first_use> first = {"batch", "bytes", "onto_gradients"};
    for (std::size_t i = 0; i < first.size(); ++i)
      if (name == first[i] && !places_[i])
        return i;
    for (int use = 0; use < telemetry::use_count; ++use)
      if (name == to_string(static_cast<telemetry::Use>(use)))
        return first_use + static_cast<std::size_t>(use);
    return std::nullopt;
  }

  std::array<std::optional<std::size_t>, number_of_values> places_{};
  std::size_t count_ = 0;
};

} // namespace

PeakCurve::PeakCurve(const MemoryModel& model, std::int64_t highest, double error) : error_(error) {
  const std::int64_t last = std::max<std::int64_t>(highest, 2);
  Points points;
  const auto add = [&](std::int64_t batch) { points.emplace(batch, replayed(model, batch)); };
  for (std::int64_t batch = 1; batch <= std::min(last, all_up_to); ++batch)
    add(batch);
  for (std::int64_t batch = all_up_to; batch <= last / 2;)
    add(batch *= 2);
  add(last);
  refine(model, points);
  for (const auto& [batch, point] : points)
    points_.push_back(point);
}

Point PeakCurve::at(std::int64_t batch) const {
  auto high = std::lower_bound(points_.begin(), points_.end(), batch,
                               [](const Point& p, std::int64_t b) { return p.batch < b; });
  if (high != points_.end() && high->batch == batch)
    return *high;
  high = std::clamp(high, points_.begin() + 1, points_.end() - 1);
  return on_line(*(high - 1), *high, batch);
}

Split PeakCurve::split(std::int64_t batch, std::uint64_t limit_bytes) const {
  if (const std::uint64_t whole = at(batch).bytes; whole <= limit_bytes)
    return {1, batch, true, whole};
  std::int64_t fits = 0;
  std::int64_t too_large = std::max<std::int64_t>(batch, 1);
  while (too_large - fits > 1) {
    const std::int64_t middle = fits + (too_large - fits) / 2;
    (at(middle).onto_gradients <= limit_bytes ? fits : too_large) = middle;
  }
  if (fits == 0)
    return {std::max<std::int64_t>(batch, 1), 1, false, at(1).onto_gradients};
  const std::int64_t parts = (batch - 1) / fits + 1;
  const std::int64_t largest = (batch - 1) / parts + 1;
  return {parts, largest, true, at(largest).onto_gradients};
}

std::string PeakCurve::to_json() const {
  Json json;
  json["error"] = json_number(error_);
  json["columns"] = {"batch", "bytes", "onto_gradients"};
  for (int use = 0; use < telemetry::use_count; ++use)
    json["columns"].push_back(to_string(static_cast<telemetry::Use>(use)));
  json["points"] = Json::array();
  for (const Point& point : points_) {
    Json row = {point.batch, point.bytes, point.onto_gradients};
    for (const std::uint64_t bytes : point.by)
      row.push_back(bytes);
    json["points"].push_back(std::move(row));
  }
  return json_text(json);
}

std::optional<PeakCurve> PeakCurve::from_json(const std::string& text) {
  const Json json = parse_json_or_discard(text);
  if (!json.is_object() || !json.contains("error") || !json.contains("points"))
    return std::nullopt;
  PeakCurve curve;
  curve.error_ = number_from_json(json["error"]);
  const Json& rows = json["points"];
  if (!(curve.error_ >= 0) || !rows.is_array() || rows.size() < 2 || rows.size() > max_points_read)
    return std::nullopt;
  const Columns columns(json);
  for (const Json& row : rows) {
    const auto point = columns.point(row);
    const std::int64_t least = curve.points_.empty() ? 1 : curve.points_.back().batch + 1;
    if (!point || point->batch < least)
      return std::nullopt;
    curve.points_.push_back(*point);
  }
  return curve.points_.front().batch == 1 ? std::optional(std::move(curve)) : std::nullopt;
}

} // namespace batchscope::predict
