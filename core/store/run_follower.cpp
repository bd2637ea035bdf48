#include "core/store/run_follower.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <queue>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/detail/connection.h"
#include "core/store/detail/database.h"
#include "core/store/detail/frame_reader.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/sql.h"

namespace batchscope::store {

namespace {

/// A frame as it is in the database.
struct Frame {
  std::vector<detail::SeriesRow> series; ///< in the order of their positions
  std::int64_t points = 0;
};

/// How much of a run poll() has returned.
struct Cursor {
  std::map<std::string, std::int64_t> points; ///< by frame, identified by the name of its first series
  std::int64_t event = 0;                     ///< row of the last one
  std::int64_t events = 0;                    ///< number of events
  std::int64_t step = std::numeric_limits<std::int64_t>::min(); ///< largest step of the records
  double seconds = 0;                                           ///< of the last record
};

/// New points of a series that is not stored with the records.
struct Points {
  const std::string* name;
  std::vector<Point> points;
  std::size_t given = 0;
};

/// Points of a frame from one read.
struct Held {
  std::int64_t first = 0; ///< number of the first one
  detail::FramePoints points;
};

std::size_t index_in_row(const std::string& name) {
  const auto& names = telemetry::step_series();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool holds_records(const Frame& frame) {
  return std::any_of(frame.series.begin(), frame.series.end(), [](const detail::SeriesRow& series) {
    return index_in_row(series.name) < telemetry::step_series().size();
  });
}

std::vector<Frame> frames_of(SQLite::Database& database, std::int64_t run) {
  std::map<std::int64_t, Frame> frames; // in the order of their creation
  for (detail::SeriesRow& series : detail::read_series_rows(database, run)) {
    Frame& frame = frames[series.frame];
    frame.points = std::max(frame.points, series.summary.count);
    frame.series.push_back(std::move(series));
  }
  std::vector<Frame> all;
  for (auto& [id, frame] : frames) {
    std::sort(frame.series.begin(), frame.series.end(),
              [](const auto& a, const auto& b) { return a.position < b.position; });
    all.push_back(std::move(frame));
  }
  return all;
}

void append_records(const Frame& frame, const detail::FramePoints& points,
                    std::vector<telemetry::StepRecord>& records) {
  const std::size_t known = telemetry::step_series().size();
  telemetry::StepRecord unknown;
  for (std::size_t i = 0; i < known; ++i)
    telemetry::set(unknown, i, std::numeric_limits<double>::quiet_NaN());
  const std::size_t before = records.size();
  records.resize(before + points.steps.size(), unknown);
  for (std::size_t i = 0; i < points.steps.size(); ++i)
    records[before + i].step = points.steps[i];
  for (std::size_t k = 0; k < frame.series.size(); ++k) {
    const std::string& name = frame.series[k].name;
    const std::size_t index = index_in_row(name);
    for (std::size_t i = 0; i < points.steps.size(); ++i) {
      if (index < known)
        telemetry::set(records[before + i], index, points.values[k][i]);
      else
        records[before + i].more.emplace_back(name, points.values[k][i]);
    }
  }
}

/// Combines the values of one step into one event, unless a series has two values there. Each series keeps its order,
/// even if its steps go backwards.
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
      events.push_back({.step = step, .seconds = 0, .kind = {}, .detail_json = "{}", .values = {}});
    events.back().values.emplace_back(*series.name, point.value);
    last_event[i] = events.size() - 1;
    if (series.given < series.points.size())
      next.emplace(series.points[series.given].step, i);
  }
  return events;
}

/// Merges two ordered lists; entries of the same step stay as close together as their order allows.
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

} // namespace

class RunFollower::Impl {
public:
  Impl(const std::filesystem::path& path, std::int64_t run)
      : file_(path), id_(run),
        connection_(path, detail::Connection::Access::read, [path] { return detail::open_for_reading(path); }) {
    detail::guarded(file_, [this] {
      const detail::Connection::Use use = connection_.use();
      uid_ = row().uid;
      generation_ = connection_.generation();
    });
  }

  Update poll(std::size_t most);
  ChunkReads chunks_read() const { return chunks_read_; }

private:
  Update read_on(std::size_t most);
  void find_again(SQLite::Database& database);
  SQLite::Database& database() { return *connection_.use(); }
  RunRow row();
  detail::FramePoints read(detail::FrameReader& reader, const Frame& frame, std::int64_t first, std::size_t most);
  void read_records(detail::FrameReader& reader, const std::vector<Frame>& frames, std::size_t most, Cursor& cursor,
                    Update& update);
  std::vector<Points> read_values(detail::FrameReader& reader, const std::vector<Frame>& frames, std::size_t most,
                                  Cursor& cursor, Update& update);
  const Held& hold(detail::FrameReader& reader, const Frame& frame, std::int64_t first, std::size_t most);
  void let_go();
  std::vector<telemetry::Event> read_events(Cursor& cursor, bool hold_back);

  std::filesystem::path file_;
  std::int64_t id_;
  std::string uid_;
  detail::Connection connection_;
  std::int64_t generation_ = 0; ///< of the connection to which the row numbers belong
  Cursor cursor_;
  std::map<std::string, Held> held_; ///< by frame, as in Cursor
  ChunkReads chunks_read_;
};

/// Call it after the database's files were replaced: rows may have other numbers there.
void RunFollower::Impl::find_again(SQLite::Database& database) {
  SQLite::Statement run(database, "SELECT id FROM run WHERE uid = ?");
  run.bind(1, uid_);
  if (!run.executeStep())
    throw input_error(fmt::format("{}: run {} no longer exists", file_.string(), id_));
  id_ = run.getColumn(0).getInt64();
  SQLite::Statement event(database, "SELECT coalesce(max(id), 0) FROM (SELECT id FROM event WHERE run = ? ORDER BY id "
                                    "LIMIT ?)");
  event.bind(1, id_);
  event.bind(2, cursor_.events);
  if (event.executeStep())
    cursor_.event = event.getColumn(0).getInt64();
}

RunRow RunFollower::Impl::row() {
  auto row = detail::find_run(database(), id_);
  if (!row)
    throw input_error(fmt::format("{}: there is no run {}", file_.string(), id_));
  return *std::move(row);
}

detail::FramePoints RunFollower::Impl::read(detail::FrameReader& reader, const Frame& frame, std::int64_t first,
                                            std::size_t most) {
  const auto fail = [&](const std::string& what) {
    throw Error(Error::Kind::failed, fmt::format("{}: run {}: series {}: {}; `batchscope-cli check` shows more",
                                                 file_.string(), id_, frame.series.front().name, what));
  };
  auto points = reader.read(frame.series, first, most, fail);
  if (points.steps.empty())
    fail(fmt::format("points {} to {} are missing", first, frame.points - 1));
  return points;
}

void RunFollower::Impl::read_records(detail::FrameReader& reader, const std::vector<Frame>& frames, std::size_t most,
                                     Cursor& cursor, Update& update) {
  for (const Frame& frame : frames) {
    std::int64_t& done = cursor.points[frame.series.front().name];
    if (!holds_records(frame) || done >= frame.points)
      continue;
    if (update.records.size() == most) {
      update.more = true;
      break;
    }
    const auto points = read(reader, frame, done, most - update.records.size());
    append_records(frame, points, update.records);
    done += static_cast<std::int64_t>(points.steps.size());
    update.more = update.more || done < frame.points;
    cursor.step = std::max(cursor.step, *std::max_element(points.steps.begin(), points.steps.end()));
  }
  if (!update.records.empty())
    cursor.seconds = update.records.back().seconds;
}

/// The points of a frame from `first` on; some may have been returned since they were read.
const Held& RunFollower::Impl::hold(detail::FrameReader& reader, const Frame& frame, std::int64_t first,
                                    std::size_t most) {
  Held& held = held_[frame.series.front().name];
  const bool has_it = first >= held.first && first < held.first + static_cast<std::int64_t>(held.points.steps.size());
  if (has_it)
    return held;
  // Reads whole chunks, so that none is decoded twice.
  const auto chunk = static_cast<std::int64_t>(detail::chunk_points);
  const std::int64_t end = (first + static_cast<std::int64_t>(most) + chunk - 1) / chunk * chunk;
  held = {first, read(reader, frame, first, static_cast<std::size_t>(end - first))};
  return held;
}

/// If more records are to come, later values wait for the next poll.
std::vector<Points> RunFollower::Impl::read_values(detail::FrameReader& reader, const std::vector<Frame>& frames,
                                                   std::size_t most, Cursor& cursor, Update& update) {
  const std::int64_t last_step = update.more ? cursor.step : std::numeric_limits<std::int64_t>::max();
  std::vector<Points> values;
  for (const Frame& frame : frames) {
    std::int64_t& done = cursor.points[frame.series.front().name];
    if (holds_records(frame) || done >= frame.points)
      continue;
    const Held& held = hold(reader, frame, done, most);
    const auto from = static_cast<std::size_t>(done - held.first);
    std::size_t to = from;
    while (to < held.points.steps.size() && held.points.steps[to] <= last_step)
      ++to;
    for (std::size_t k = 0; k < frame.series.size(); ++k) {
      Points& series = values.emplace_back(Points{&frame.series[k].name, {}});
      for (std::size_t i = from; i < to; ++i)
        series.points.push_back({held.points.steps[i], held.points.values[k][i]});
    }
    done += static_cast<std::int64_t>(to - from);
    update.more = update.more || done < frame.points;
  }
  return values;
}

std::vector<telemetry::Event> RunFollower::Impl::read_events(Cursor& cursor, bool hold_back) {
  std::vector<telemetry::Event> events;
  SQLite::Statement query(database(), "SELECT id, step, seconds, kind, detail FROM event WHERE run = ? AND id > ? "
                                      "ORDER BY id");
  query.bind(1, id_);
  query.bind(2, cursor.event);
  while (query.executeStep()) {
    const std::int64_t step = query.getColumn(1).getInt64();
    if (hold_back && step > cursor.step)
      break;
    cursor.event = query.getColumn(0).getInt64();
    ++cursor.events;
    events.push_back({.step = step,
                      .seconds = detail::real(query.getColumn(2)),
                      .kind = query.getColumn(3),
                      .detail_json = query.getColumn(4),
                      .values = {}});
  }
  return events;
}

RunFollower::Update RunFollower::Impl::poll(std::size_t most) {
  return detail::guarded(file_, [&] { return read_on(most); });
}

// Advances the cursor only after everything was read, so that a failed poll loses nothing.
RunFollower::Update RunFollower::Impl::read_on(std::size_t most) {
  const detail::Connection::Use use = connection_.use();
  const SQLite::Transaction moment(*use);
  if (generation_ != connection_.generation()) {
    find_again(*use);
    generation_ = connection_.generation();
  }
  detail::FrameReader reader(*use);
  Cursor cursor = cursor_;
  Update update;
  update.row = row();
  const std::vector<Frame> frames = frames_of(*use, id_);
  read_records(reader, frames, most, cursor, update);
  const bool hold_back = update.more;
  auto values = as_events(read_values(reader, frames, most, cursor, update));
  // Steps of these are stored, but not times; the time of the record before is the best estimate.
  auto record = update.records.cbegin();
  double seconds = cursor_.seconds;
  for (telemetry::Event& event : values) {
    for (; record != update.records.cend() && record->step <= event.step; ++record)
      seconds = record->seconds;
    event.seconds = seconds;
  }
  update.events = merged(read_events(cursor, hold_back), std::move(values));
  cursor_ = std::move(cursor);
  let_go();
  chunks_read_.steps += reader.chunks_read().steps;
  chunks_read_.values += reader.chunks_read().values;
  return update;
}

/// Drops points that were returned.
void RunFollower::Impl::let_go() {
  std::erase_if(held_, [this](const auto& held) {
    return cursor_.points[held.first] >= held.second.first + static_cast<std::int64_t>(held.second.points.steps.size());
  });
}

RunFollower::RunFollower(const std::filesystem::path& file, std::int64_t id)
    : impl_(std::make_unique<Impl>(file, id)) {}
RunFollower::~RunFollower() = default;
RunFollower::RunFollower(RunFollower&&) noexcept = default;
RunFollower& RunFollower::operator=(RunFollower&&) noexcept = default;

RunFollower::ChunkReads RunFollower::chunks_read() const {
  return impl_->chunks_read();
}

RunFollower::Update RunFollower::poll(std::size_t max_records) {
  return impl_->poll(std::max<std::size_t>(1, max_records));
}

} // namespace batchscope::store
