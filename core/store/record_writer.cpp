#include "core/store/detail/record_writer.h"

#include <algorithm>

#include "core/store/file/detail/sql.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::store::detail {

RecordWriter::RecordWriter(SQLite::Database& database)
    : database_(database), insert_frame_(database, "INSERT INTO frame (run) VALUES (?)"),
      insert_series_(database,
                     "INSERT INTO series (run, name, frame, position, n, last_step) VALUES (?, ?, ?, ?, 0, 0)"),
      insert_steps_(database, "INSERT INTO step_chunk (frame, first, n, first_step, last_step, crc, data) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      insert_values_(database, "INSERT INTO value_chunk (series, first, n, min, max, crc, data) "
                               "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      clear_tail_(database, "DELETE FROM tail WHERE frame = ?"),
      insert_tail_(database, "INSERT INTO tail (frame, number, crc, data) VALUES (?, ?, ?, ?)"),
      update_series_(database, "UPDATE series SET n = ?, last_step = ?, last = ?, min = ?, max = ? WHERE id = ?"),
      insert_event_(database, "INSERT INTO event (run, step, seconds, kind, detail) VALUES (?, ?, ?, ?, ?)"),
      // A run without a name of the user's has the one that its program gives it.
      update_start_(database, "UPDATE run SET start = ?1, name = iif(name = '', coalesce(json_extract(?1, "
                              "'$.program.name'), ''), name) WHERE id = ?2"),
      update_run_(database) {}

void RecordWriter::write(RunBuffer& run) {
  for (const auto& frame : run.frames()) {
    if (!frame->exists)
      create(*frame, run.id);
    write_frame(*frame, run.outcome.has_value());
  }
  write_events(run);
  write_start(run);
  write_outcome(run);
}

void RecordWriter::create(FrameBuffer& frame, std::int64_t run) {
  execute(insert_frame_, run);
  frame.id = database_.getLastInsertRowid();
  for (std::size_t i = 0; i < frame.series.size(); ++i) {
    execute(insert_series_, run, frame.series[i].name, frame.id, static_cast<std::int64_t>(i));
    frame.series[i].id = database_.getLastInsertRowid();
  }
}

// Seals whole chunks, and at the end of the run the remainder. Points that fill a chunk within one transaction never go
// through the tail.
void RecordWriter::write_frame(FrameBuffer& frame, bool to_the_end) {
  const std::size_t points = frame.steps.size();
  frame.to_seal = 0;
  if (frame.exists && points == frame.in_tail && !to_the_end)
    return;
  frame.to_seal = to_the_end ? points : points / chunk_points * chunk_points;
  for (std::size_t begin = 0; begin < frame.to_seal; begin += chunk_points)
    seal(frame, begin, std::min(begin + chunk_points, frame.to_seal));
  if (frame.to_seal > 0 && frame.in_tail > 0)
    execute(clear_tail_, frame.id);
  write_tail(frame);
  write_summaries(frame);
}

void RecordWriter::seal(FrameBuffer& frame, std::size_t begin, std::size_t end) {
  const std::int64_t first = frame.first + static_cast<std::int64_t>(begin);
  const auto n = static_cast<std::int64_t>(end - begin);
  const auto steps = packed_steps(std::span(frame.steps).subspan(begin, end - begin));
  const std::size_t step_bytes = steps.size() * sizeof(std::int64_t);
  execute(insert_steps_, frame.id, first, n, frame.steps[begin], frame.steps[end - 1],
          checksum(steps.data(), step_bytes), Bytes{steps.data(), step_bytes});
  for (const SeriesBuffer& series : frame.series) {
    Summary summary;
    for (std::size_t i = begin; i < end; ++i)
      summary.add(frame.steps[i], series.values[i]);
    const double* values = series.values.data() + begin;
    const std::size_t bytes = (end - begin) * sizeof(double);
    execute(insert_values_, series.id, first, n, summary.min, summary.max, checksum(values, bytes),
            Bytes{values, bytes});
  }
}

void RecordWriter::write_tail(const FrameBuffer& frame) {
  std::vector<double> values(frame.series.size());
  for (std::size_t i = std::max(frame.to_seal, frame.in_tail); i < frame.steps.size(); ++i) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = frame.series[k].values[i];
    const std::string row = packed_row(frame.steps[i], values);
    execute(insert_tail_, frame.id, frame.first + static_cast<std::int64_t>(i), checksum(row.data(), row.size()),
            Bytes{row.data(), row.size()});
  }
}

void RecordWriter::write_summaries(const FrameBuffer& frame) {
  for (const SeriesBuffer& series : frame.series) {
    execute(update_series_, series.summary.count, series.summary.last_step, series.summary.last, series.summary.min,
            series.summary.max, series.id);
  }
}

void RecordWriter::write_events(const RunBuffer& run) {
  for (const telemetry::Event& event : run.events()) {
    const telemetry::EncodedEvent encoded = telemetry::encode(event);
    execute(insert_event_, run.id, event.step, event.seconds, encoded.kind, encoded.detail_json);
  }
}

void RecordWriter::write_start(const RunBuffer& run) {
  if (!run.new_start())
    return;
  execute(update_start_, *run.new_start(), run.id);
}

void RecordWriter::write_outcome(const RunBuffer& run) {
  if (run.outcome)
    update_run_.close(run.id, *run.outcome);
  else
    update_run_.progress(run.id, run.progress());
}

} // namespace batchscope::store::detail
