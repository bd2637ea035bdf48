#include "core/store/detail/resumed_run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/store/detail/record_writer.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

Error damaged_points(const std::string& series) {
  return {Error::Kind::failed,
          fmt::format("the stored points of the series {} are damaged; check --repair saves what is whole", series)};
}

/// The sealed steps of a frame.
struct SealedSteps {
  std::int64_t first = 0;
  std::vector<std::int64_t> steps;
};

std::vector<SealedSteps> sealed_steps_of(SQLite::Database& database, std::int64_t frame, const std::string& series) {
  auto query = prepare(
      database, "SELECT first, n, first_step, last_step, crc, data FROM step_chunk WHERE frame = ? ORDER BY first",
      frame);
  std::vector<SealedSteps> chunks;
  while (query.executeStep()) {
    auto steps = sealed_steps(query, 1);
    if (!steps)
      throw damaged_points(series);
    chunks.push_back({query.getColumn(0).getInt64(), *std::move(steps)});
  }
  return chunks;
}

/// How many chunks stay as they are: whole ones without a later step, but the last of these, so that some points are
/// left to write and the summaries with them.
std::size_t chunks_that_stay(const std::vector<SealedSteps>& chunks, std::int64_t last_step) {
  std::size_t count = 0;
  while (count < chunks.size() && chunks[count].steps.size() == chunk_points && chunks[count].steps.back() <= last_step)
    ++count;
  return count > 0 ? count - 1 : 0;
}

/// A frame that is read back into a buffer, up to a step.
class CutFrame {
public:
  CutFrame(SQLite::Database& database, std::vector<SeriesRow> series, std::int64_t last_step)
      : database_(database), rows_(std::move(series)), last_step_(last_step),
        chunks_(sealed_steps_of(database, rows_.front().frame, rows_.front().name)),
        stay_(chunks_that_stay(chunks_, last_step)) {}

  /// Removes from the database what the buffer has now. Null if no point is left.
  std::unique_ptr<FrameBuffer> read() {
    auto frame = std::make_unique<FrameBuffer>();
    frame->id = rows_.front().frame;
    frame->exists = true;
    frame->first = stay_ > 0 ? chunks_[stay_ - 1].first + static_cast<std::int64_t>(chunk_points) : 0;
    for (std::size_t i = stay_; i < chunks_.size(); ++i)
      frame->steps.insert(frame->steps.end(), chunks_[i].steps.begin(), chunks_[i].steps.end());
    for (const SeriesRow& row : rows_)
      frame->series.push_back(read_sealed(row));
    read_tail(*frame);
    cut(*frame);
    if (frame->steps.empty()) {
      execute(database_, "DELETE FROM frame WHERE id = ?", frame->id); // with its series and chunks
      return nullptr;
    }
    execute(database_, "DELETE FROM step_chunk WHERE frame = ? AND first >= ?", frame->id, frame->first);
    execute(database_, "DELETE FROM value_chunk WHERE series IN (SELECT id FROM series WHERE frame = ?) AND first >= ?",
            frame->id, frame->first);
    execute(database_, "DELETE FROM tail WHERE frame = ?", frame->id);
    return frame;
  }

private:
  SeriesBuffer read_sealed(const SeriesRow& row) {
    SeriesBuffer series{.id = row.id, .name = row.name, .summary = {}, .values = {}};
    auto query =
        prepare(database_, "SELECT min, max, n, crc, data FROM value_chunk WHERE series = ? ORDER BY first", row.id);
    std::size_t i = 0;
    for (; query.executeStep(); ++i) {
      if (i < stay_) {
        series.summary.count += query.getColumn(2).getInt64();
        series.summary.min = std::fmin(series.summary.min, real(query.getColumn(0)));
        series.summary.max = std::fmax(series.summary.max, real(query.getColumn(1)));
        continue;
      }
      const auto values = sealed_values(query, 2);
      if (!values || i >= chunks_.size() || values->size() != chunks_[i].steps.size())
        throw damaged_points(row.name);
      series.values.insert(series.values.end(), values->begin(), values->end());
    }
    if (i != chunks_.size())
      throw damaged_points(row.name);
    return series;
  }

  void read_tail(FrameBuffer& frame) {
    auto query = prepare(database_, "SELECT crc, data FROM tail WHERE frame = ? ORDER BY number", frame.id);
    while (query.executeStep()) {
      const auto row = unsealed_row(query, 0);
      if (!row)
        throw damaged_points(rows_.front().name);
      frame.steps.push_back(row->step);
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        if (rows_[k].position >= row->values.size())
          throw damaged_points(rows_[k].name);
        frame.series[k].values.push_back(row->values[rows_[k].position]);
      }
    }
  }

  void cut(FrameBuffer& frame) const {
    const auto end =
        std::find_if(frame.steps.begin(), frame.steps.end(), [this](std::int64_t step) { return step > last_step_; });
    frame.steps.erase(end, frame.steps.end());
    for (SeriesBuffer& series : frame.series) {
      series.values.resize(frame.steps.size());
      for (std::size_t i = 0; i < frame.steps.size(); ++i)
        series.summary.add(frame.steps[i], series.values[i]);
    }
  }

  SQLite::Database& database_;
  const std::vector<SeriesRow> rows_; ///< in the order of their positions
  const std::int64_t last_step_;
  const std::vector<SealedSteps> chunks_;
  const std::size_t stay_; ///< of the chunks
};

std::vector<std::unique_ptr<FrameBuffer>> cut_frames(SQLite::Database& database, const ResumedRun& resumed) {
  std::vector<std::unique_ptr<FrameBuffer>> frames;
  for (auto& [id, series] : series_by_frame(database, resumed.run))
    if (auto frame = CutFrame(database, std::move(series), resumed.steps).read())
      frames.push_back(std::move(frame));
  return frames;
}

RunRow ended_run(SQLite::Database& database, std::int64_t id) {
  auto row = find_run(database, id);
  if (!row)
    throw input_error(fmt::format("there is no run {}", id));
  const telemetry::RunStatus status = row->outcome.status;
  if (telemetry::is_open(status) || status == telemetry::RunStatus::finished)
    throw input_error(fmt::format("run {} is {}; only runs that were interrupted, were stopped or failed can be "
                                  "resumed",
                                  id, telemetry::to_string(status)));
  return *std::move(row);
}

} // namespace

std::shared_ptr<RunBuffer> resume_run(SQLite::Database& database, const NewRun& run, std::int64_t process,
                                      std::size_t max_waiting) {
  const ResumedRun& resumed = *run.resumed;
  const RunRow row = ended_run(database, resumed.run);
  execute(database,
          "DELETE FROM event WHERE run = ?1 AND id NOT IN (SELECT id FROM event WHERE run = ?1 ORDER BY id LIMIT ?2)",
          row.id, resumed.events);
  // Commands to the process that is gone are not meant for this one.
  execute(database, "UPDATE command SET taken = 1 WHERE run = ? AND taken IS NULL", row.id);
  execute(database, "UPDATE run SET process = ? WHERE id = ?", process, row.id);
  auto buffer = std::make_shared<RunBuffer>(row.id, row.uid, run, max_waiting);
  telemetry::RunOutcome outcome = resumed.progress.outcome();
  outcome.status = telemetry::RunStatus::running;
  outcome.reason.clear();
  buffer->resume(cut_frames(database, resumed), telemetry::RunProgress(outcome, resumed.progress.clock()));
  RecordWriter(database).write(*buffer);
  return buffer;
}

} // namespace batchscope::store::detail
