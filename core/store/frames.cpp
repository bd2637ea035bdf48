#include "core/store/detail/frames.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>

namespace batchscope::store::detail {

std::vector<StoredFrame> frames_of(SQLite::Database& database, std::int64_t run) {
  const auto& known = telemetry::step_series();
  std::vector<StoredFrame> all;
  for (auto& [id, rows] : series_by_frame(database, run)) {
    StoredFrame& frame = all.emplace_back(StoredFrame{.series = std::move(rows), .index = {}});
    for (const SeriesRow& series : frame.series) {
      frame.points = std::max(frame.points, series.summary.count);
      frame.index.push_back(
          static_cast<std::size_t>(std::find(known.begin(), known.end(), series.name) - known.begin()));
    }
  }
  return all;
}

bool holds_records(const StoredFrame& frame) {
  return std::any_of(frame.index.begin(), frame.index.end(),
                     [](std::size_t index) { return index < telemetry::step_series().size(); });
}

void StoredFrame::set(telemetry::StepRecord& record, const FramePoints& points, std::size_t i) const {
  for (std::size_t k = 0; k < series.size(); ++k) {
    if (index[k] < telemetry::step_series().size())
      telemetry::set(record, index[k], points.values[k][i]);
    else
      record.more.emplace_back(series[k].name, points.values[k][i]);
  }
}

std::vector<telemetry::Event> as_events(std::vector<Points> all) {
  // The series by the step of their next point, smallest first.
  using Next = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].points.empty())
      next.emplace(all[i].points.front().step, i);
  std::vector<std::size_t> last_event(all.size(), SIZE_MAX); // last event with a value of the series
  std::vector<telemetry::Event> events;
  while (!next.empty()) {
    const auto [step, i] = next.top();
    next.pop();
    Points& series = all[i];
    const Point& point = series.points[series.given++];
    if (events.empty() || events.back().step != step || last_event[i] + 1 == events.size())
      events.push_back({.step = step, .seconds = 0, .body = {}});
    events.back().values.emplace_back(*series.name, point.value);
    last_event[i] = events.size() - 1;
    if (series.given < series.points.size())
      next.emplace(series.points[series.given].step, i);
  }
  return events;
}

std::vector<telemetry::Event> merged(std::vector<telemetry::Event> happened, std::vector<telemetry::Event> values) {
  std::vector<telemetry::Event> all;
  all.reserve(happened.size() + values.size());
  auto value = values.begin();
  for (telemetry::Event& event : happened) {
    for (; value != values.end() && value->step < event.step; ++value)
      all.push_back(std::move(*value));
    all.push_back(std::move(event));
  }
  std::move(value, values.end(), std::back_inserter(all));
  return all;
}

} // namespace batchscope::store::detail
