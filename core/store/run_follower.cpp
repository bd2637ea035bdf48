#include "core/store/run_follower.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/detail/connection.h"
#include "core/store/detail/frame_reader.h"
#include "core/store/detail/frames.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/sql.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::store {

namespace {

using detail::Points;
using detail::StoredFrame;

/// How much of a run poll() has returned.
struct Cursor {
  std::map<std::string, std::int64_t> points; ///< by frame, identified by the name of its first series
  std::int64_t event = 0;                     ///< row of the last one
  std::int64_t events = 0;                    ///< number of events
  std::int64_t step = std::numeric_limits<std::int64_t>::min(); ///< largest step of the records
  double seconds = 0;                                           ///< of the last record
};

/// Points of a frame from one read.
struct Held {
  std::int64_t first = 0; ///< number of the first one
  detail::FramePoints points;
};

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
  RunRow begin_snapshot(SQLite::Database& database, std::optional<SQLite::Transaction>& snapshot);
  SQLite::Database& database() { return *connection_.use(); }
  RunRow row();
  detail::FramePoints read(detail::FrameReader& reader, const StoredFrame& frame, std::int64_t first, std::size_t most);
  void read_records(detail::FrameReader& reader, const std::vector<StoredFrame>& frames, std::size_t most,
                    Cursor& cursor, Update& update);
  void read_only_frame(detail::FrameReader& reader, const StoredFrame& frame, std::size_t most, Cursor& cursor,
                       Update& update);
  void merge_frames(detail::FrameReader& reader, const std::vector<const StoredFrame*>& frames, std::size_t most,
                    Cursor& cursor, Update& update);
  std::vector<Points> read_values(detail::FrameReader& reader, const std::vector<StoredFrame>& frames, std::size_t most,
                                  Cursor& cursor, Update& update);
  const Held& hold(detail::FrameReader& reader, const StoredFrame& frame, std::int64_t first, std::size_t most);
  void let_go();
  std::vector<telemetry::Event> read_events(Cursor& cursor, bool hold_back);

  std::filesystem::path file_;
  std::int64_t id_;
  std::string uid_;
  detail::Connection connection_;
  std::int64_t generation_ = 0; ///< of the connection to which the row numbers belong
  bool interrupted_ = false;    ///< the process that wrote the run had ended before the last snapshot
  Cursor cursor_;
  std::map<std::string, Held> held_; ///< by frame, as in Cursor
  ChunkReads chunks_read_;
};

/// Call it after the database's files were replaced: rows may have other numbers there.
void RunFollower::Impl::find_again(SQLite::Database& database) {
  const auto found = detail::run_with_uid(database, uid_);
  if (!found)
    throw input_error(fmt::format("{}: run {} no longer exists", file_.string(), id_));
  id_ = *found;
  cursor_.event =
      detail::find_integer(database, "SELECT max(id) FROM (SELECT id FROM event WHERE run = ? ORDER BY id LIMIT ?)",
                           id_, cursor_.events)
          .value_or(0);
}

RunRow RunFollower::Impl::row() {
  auto row = detail::find_run(database(), id_);
  if (!row)
    throw input_error(fmt::format("{}: there is no run {}", file_.string(), id_));
  return *std::move(row);
}

detail::FramePoints RunFollower::Impl::read(detail::FrameReader& reader, const StoredFrame& frame, std::int64_t first,
                                            std::size_t most) {
  const auto fail = [&](const std::string& what) {
    throw Error(Error::Kind::failed, fmt::format("{}: run {}: series {}: {}; `batchscope-cli check` shows more",
                                                 file_.string(), id_, frame.name(), what));
  };
  auto points = reader.read(frame.series, first, most, fail);
  if (points.steps.empty())
    fail(fmt::format("points {} to {} are missing", first, frame.points - 1));
  return points;
}

void RunFollower::Impl::read_records(detail::FrameReader& reader, const std::vector<StoredFrame>& frames,
                                     std::size_t most, Cursor& cursor, Update& update) {
  std::vector<const StoredFrame*> merging;
  for (const StoredFrame& frame : frames)
    if (detail::holds_records(frame) && cursor.points[frame.name()] < frame.points)
      merging.push_back(&frame);
  if (merging.size() == 1)
    read_only_frame(reader, *merging.front(), most, cursor, update);
  else if (!merging.empty())
    merge_frames(reader, merging, most, cursor, update);
  for (const auto& record : update.records) {
    cursor.step = std::max(cursor.step, record.step);
    cursor.seconds = std::isfinite(record.seconds) ? record.seconds : cursor.seconds;
  }
}

/// The usual case: what this program trained has its records in one frame.
void RunFollower::Impl::read_only_frame(detail::FrameReader& reader, const StoredFrame& frame, std::size_t most,
                                        Cursor& cursor, Update& update) {
  std::int64_t& done = cursor.points[frame.name()];
  const auto points = read(reader, frame, done, most);
  for (std::size_t i = 0; i < points.steps.size(); ++i) {
    update.records.push_back(telemetry::unknown_record(points.steps[i]));
    frame.set(update.records.back(), points, i);
  }
  done += static_cast<std::int64_t>(points.steps.size());
  update.more = done < frame.points;
}

/// Runs of other programs have each series in a frame of its own: all that is known of a step becomes one record.
void RunFollower::Impl::merge_frames(detail::FrameReader& reader, const std::vector<const StoredFrame*>& frames,
                                     std::size_t most, Cursor& cursor, Update& update) {
  struct MergedFrame {
    const StoredFrame* frame;
    std::int64_t* done;
    const Held* held = nullptr;
    std::size_t at() const { return static_cast<std::size_t>(*done - held->first); }
  };
  std::vector<MergedFrame> merging;
  for (const StoredFrame* frame : frames)
    merging.push_back({frame, &cursor.points[frame->name()]});
  while (!merging.empty() && update.records.size() < most) {
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (MergedFrame& merged : merging) {
      if (!merged.held || merged.at() == merged.held->points.steps.size())
        merged.held = &hold(reader, *merged.frame, *merged.done, most);
      step = std::min(step, merged.held->points.steps[merged.at()]);
    }
    telemetry::StepRecord& record = update.records.emplace_back(telemetry::unknown_record(step));
    for (MergedFrame& merged : merging)
      if (merged.held->points.steps[merged.at()] == step) {
        merged.frame->set(record, merged.held->points, merged.at());
        ++*merged.done;
      }
    std::erase_if(merging, [](const MergedFrame& merged) { return *merged.done >= merged.frame->points; });
  }
  update.more = !merging.empty();
}

/// The points of a frame from `first` on; some may have been returned since they were read.
const Held& RunFollower::Impl::hold(detail::FrameReader& reader, const StoredFrame& frame, std::int64_t first,
                                    std::size_t most) {
  Held& held = held_[frame.name()];
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
std::vector<Points> RunFollower::Impl::read_values(detail::FrameReader& reader, const std::vector<StoredFrame>& frames,
                                                   std::size_t most, Cursor& cursor, Update& update) {
  const std::int64_t last_step = update.more ? cursor.step : std::numeric_limits<std::int64_t>::max();
  std::vector<Points> values;
  for (const StoredFrame& frame : frames) {
    std::int64_t& done = cursor.points[frame.name()];
    if (detail::holds_records(frame) || done >= frame.points)
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
  auto query = detail::prepare(database(),
                               "SELECT id, step, seconds, kind, detail FROM event WHERE run = ? AND id > ? ORDER BY id",
                               id_, cursor.event);
  while (query.executeStep()) {
    const std::int64_t step = query.getColumn(1).getInt64();
    if (hold_back && step > cursor.step)
      break;
    cursor.event = query.getColumn(0).getInt64();
    ++cursor.events;
    events.push_back(telemetry::decode_event(step, detail::real(query.getColumn(2)), query.getColumn(3).getString(),
                                             query.getColumn(4).getString()));
  }
  return events;
}

RunFollower::Update RunFollower::Impl::poll(std::size_t most) {
  return detail::guarded(file_, [&] { return read_on(most); });
}

/// Whether the run's process has ended is asked when a snapshot has been taken. The process may have stored more before
/// it ended: a second snapshot has everything.
RunRow RunFollower::Impl::begin_snapshot(SQLite::Database& database, std::optional<SQLite::Transaction>& snapshot) {
  snapshot.emplace(database);
  if (generation_ != connection_.generation()) {
    find_again(database);
    generation_ = connection_.generation();
  }
  RunRow found = row();
  if (found.outcome.status == telemetry::RunStatus::interrupted && !interrupted_) {
    snapshot.reset();
    snapshot.emplace(database);
    found = row();
  }
  interrupted_ = found.outcome.status == telemetry::RunStatus::interrupted;
  return found;
}

// Advances the cursor only after everything was read, so that a failed poll loses nothing.
RunFollower::Update RunFollower::Impl::read_on(std::size_t most) {
  const detail::Connection::Use use = connection_.use();
  std::optional<SQLite::Transaction> snapshot;
  Update update;
  update.row = begin_snapshot(*use, snapshot);
  Cursor cursor = cursor_;
  detail::FrameReader reader(*use);
  const std::vector<StoredFrame> frames = detail::frames_of(*use, id_);
  read_records(reader, frames, most, cursor, update);
  const bool hold_back = update.more;
  auto values = detail::as_events(read_values(reader, frames, most, cursor, update));
  // Steps of these are stored, but not times; the time of the record before is the best estimate.
  auto record = update.records.cbegin();
  double seconds = cursor_.seconds;
  for (telemetry::Event& event : values) {
    for (; record != update.records.cend() && record->step <= event.step; ++record)
      seconds = record->seconds;
    event.seconds = seconds;
  }
  update.events = detail::merged(read_events(cursor, hold_back), std::move(values));
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
