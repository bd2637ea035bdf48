#include "core/store/detail/run_buffer.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::unique_ptr<FrameBuffer> new_frame(const std::vector<std::string>& names) {
  auto frame = std::make_unique<FrameBuffer>();
  for (const std::string& name : names)
    frame->series.push_back({.id = 0, .name = name, .summary = {}, .values = {}});
  return frame;
}

template <typename T> void drop_front(std::vector<T>& values, std::size_t n) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
}

NewRun without_functions(NewRun run) {
  run.on_command = {};
  run.on_trouble = {};
  run.on_notice = {};
  run.ending = {};
  return run;
}

/// Whether the database has exactly those points of a frame that the buffer assumes to be stored.
bool is_stored(SQLite::Database& database, const FrameBuffer& frame) {
  return find_integer(database, "SELECT coalesce(max(first + n), 0) FROM step_chunk WHERE frame = ?", frame.id) ==
             frame.first &&
         find_integer(database, "SELECT count(*) FROM tail WHERE frame = ?", frame.id) ==
             static_cast<std::int64_t>(frame.in_tail);
}

} // namespace

void FrameBuffer::add(std::int64_t step, const std::vector<double>& values) {
  steps.push_back(step);
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].values.push_back(values[i]);
    series[i].summary.add(step, values[i]);
  }
}

RunBuffer::RunBuffer(std::int64_t id, std::string uid, const NewRun& run, std::size_t max_waiting)
    : id(id), uid(std::move(uid)), on_command(run.on_command), on_trouble(run.on_trouble), on_notice(run.on_notice),
      queue(max_waiting, run.ending), run_(without_functions(run)), progress_(run.status, run.batch) {}

void RunBuffer::rebind(SQLite::Database& database, std::int64_t process) {
  const auto found = run_with_uid(database, uid);
  if (!found)
    return start_over(database, process);
  id = *found;
  execute(database, "UPDATE run SET process = ?, status = ? WHERE id = ?", process,
          telemetry::to_string(progress().status), id);
  if (!find_frames(database)) {
    execute(database, "DELETE FROM frame WHERE run = ?", id);
    execute(database, "DELETE FROM event WHERE run = ?", id);
    forget_stored();
  }
}

bool RunBuffer::find_frames(SQLite::Database& database) {
  SQLite::Statement find(database, "SELECT id, frame FROM series WHERE run = ? AND name = ?");
  for (const auto& frame : frames_) {
    if (!frame->exists)
      continue;
    for (SeriesBuffer& series : frame->series) {
      const ResetAtEnd reset(find);
      find.bind(1, id.load());
      find.bind(2, series.name);
      if (!find.executeStep())
        return false;
      series.id = find.getColumn(0).getInt64();
      frame->id = find.getColumn(1).getInt64();
    }
    if (!is_stored(database, *frame))
      return false;
  }
  return true;
}

void RunBuffer::start_over(SQLite::Database& database, std::int64_t process) {
  NewRun run = run_;
  run.status = progress().status;
  if (!find_integer(database, "SELECT 1 FROM sweep WHERE id = ?", run.sweep))
    run.sweep.reset();
  id = insert_run(database, run, uid, process);
  forget_stored();
}

// Points that are not sealed are still here; sealed ones are lost with the old files.
void RunBuffer::forget_stored() {
  for (const auto& frame : frames_) {
    frame->exists = false;
    frame->first = 0;
    frame->in_tail = 0;
    frame->to_seal = 0;
    for (SeriesBuffer& series : frame->series) {
      series.summary = {};
      for (std::size_t i = 0; i < frame->steps.size(); ++i)
        series.summary.add(frame->steps[i], series.values[i]);
    }
  }
}

std::int64_t RunBuffer::points() const {
  std::int64_t points = 0;
  for (const auto& frame : frames_)
    points += (frame->first + static_cast<std::int64_t>(frame->steps.size())) *
              static_cast<std::int64_t>(frame->series.size());
  return points;
}

void RunBuffer::set_start(const std::string& start_json) {
  const std::lock_guard lock(start_mutex_);
  given_start_ = start_json;
}

void RunBuffer::drain() {
  {
    const std::lock_guard lock(start_mutex_);
    if (given_start_) {
      run_.start_json = *given_start_;
      start_ = std::exchange(given_start_, {});
    }
  }
  queue.drain([this](telemetry::Entry&& entry) {
    std::visit([this](auto&& value) { take(std::move(value)); }, std::move(entry));
    ++entries_;
  });
}

void RunBuffer::take(const telemetry::StepRecord& record) {
  if (steps_.empty()) {
    std::vector<std::size_t> all(telemetry::step_series().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    add_step_frame(all);
  }
  telemetry::row(record, row_);
  for (const StepFrame& each : steps_) {
    part_.clear();
    for (const std::size_t column : each.columns)
      part_.push_back(row_[column]);
    each.frame->add(record.step, part_);
  }
  for (const auto& [name, value] : record.more)
    add_other(record.step, name, value);
  progress_.take(record);
}

void RunBuffer::take(telemetry::Event&& event) {
  for (const auto& [name, value] : event.values)
    add_other(event.step, name, value);
  progress_.take(event);
  if (telemetry::has_happened(event))
    events_.push_back(std::move(event));
}

// Each other series gets a frame of its own, since it is not known which of them share their steps.
void RunBuffer::add_other(std::int64_t step, const std::string& name, double value) {
  FrameBuffer*& frame = others_[name];
  if (!frame) {
    const auto& taken = telemetry::step_series();
    const bool is_taken = std::find(taken.begin(), taken.end(), name) != taken.end();
    frames_.push_back(new_frame({is_taken ? "other." + name : name}));
    frame = frames_.back().get();
  }
  frame->add(step, {value});
}

void RunBuffer::add_step_frame(const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t column : columns)
    names.push_back(telemetry::step_series()[column]);
  frames_.push_back(new_frame(names));
  steps_.push_back({frames_.back().get(), columns});
}

void RunBuffer::resume(std::vector<std::unique_ptr<FrameBuffer>> frames, const telemetry::RunProgress& progress) {
  constexpr std::string_view other = "other.";
  const auto& known = telemetry::step_series();
  const auto column_of = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin());
  };
  std::vector<bool> there(known.size());
  for (auto& frame : frames) {
    StepFrame steps{frame.get(), {}};
    for (const SeriesBuffer& series : frame->series)
      steps.columns.push_back(column_of(series.name));
    const std::string& name = frame->series.front().name;
    if (steps.columns.front() < known.size()) {
      for (const std::size_t column : steps.columns)
        there[column] = true;
      steps_.push_back(std::move(steps));
    } else {
      const bool prefixed = name.starts_with(other) && column_of(name.substr(other.size())) < known.size();
      others_[prefixed ? name.substr(other.size()) : name] = frame.get();
    }
    frames_.push_back(std::move(frame));
  }
  std::vector<std::size_t> missing; // their earlier points were pruned
  for (std::size_t column = 0; column < known.size(); ++column)
    if (!there[column])
      missing.push_back(column);
  if (!missing.empty())
    add_step_frame(missing);
  progress_ = progress;
}

void RunBuffer::add_series(const std::string& name, const std::vector<Point>& points) {
  frames_.push_back(new_frame({name}));
  for (const Point& point : points)
    frames_.back()->add(point.step, {point.value});
}

void RunBuffer::add_frame(const std::vector<std::string>& names, const std::vector<std::int64_t>& steps,
                          const std::vector<std::vector<double>>& values) {
  frames_.push_back(new_frame(names));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    row_.clear();
    for (const std::vector<double>& of_series : values)
      row_.push_back(of_series[i]);
    frames_.back()->add(steps[i], row_);
  }
}

void RunBuffer::extend_series(std::int64_t frame, std::int64_t series, const std::string& name, const Summary& summary,
                              std::int64_t sealed, const std::vector<Point>& points) {
  frames_.push_back(new_frame({name}));
  FrameBuffer& buffer = *frames_.back();
  buffer.id = frame;
  buffer.exists = true;
  buffer.first = sealed;
  buffer.in_tail = static_cast<std::size_t>(summary.count - sealed);
  for (auto point = points.begin() + sealed; point != points.end(); ++point)
    buffer.add(point->step, {point->value});
  SeriesBuffer& only = buffer.series.front();
  only.id = series;
  only.summary = summary; // not of the points that are stored, once more
  for (auto point = points.begin() + summary.count; point != points.end(); ++point)
    only.summary.add(point->step, point->value);
}

void RunBuffer::tell(const std::string& error, const std::string& notice) {
  if (on_notice && notice != noticed_) {
    noticed_ = notice;
    on_notice(notice);
  }
  if (!on_trouble || outcome || error == reported_)
    return;
  reported_ = error;
  on_trouble(error);
}

void RunBuffer::report_stored() {
  if (on_trouble && !std::exchange(reported_, {}).empty())
    on_trouble({});
}

bool RunBuffer::urgent() const {
  return (outcome && !closed_) || std::any_of(events_.begin(), events_.end(), telemetry::is_answer);
}

void RunBuffer::committed() {
  for (const auto& frame : frames_) {
    frame->exists = true;
    drop_front(frame->steps, frame->to_seal);
    for (SeriesBuffer& series : frame->series)
      drop_front(series.values, frame->to_seal);
    frame->first += static_cast<std::int64_t>(frame->to_seal);
    frame->to_seal = 0;
    frame->in_tail = frame->steps.size();
  }
  events_.clear();
  stored_ += entries_;
  entries_ = 0;
  start_.reset();
  closed_ = outcome.has_value();
}

} // namespace batchscope::store::detail
