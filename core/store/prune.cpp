#include "core/store/detail/prune.h"

#include <algorithm>
#include <map>

#include "core/store/detail/run_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/file/detail/chunk.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::uint64_t size(SQLite::Database& database, const char* text, std::int64_t id) {
  return static_cast<std::uint64_t>(find_integer(database, text, id).value_or(0));
}

/// The series of a frame in the order of their positions: those that stay, and those that go.
struct FrameSeries {
  std::vector<SeriesRow> kept;
  std::vector<SeriesRow> removed;
};

std::map<std::int64_t, FrameSeries> frames_of(SQLite::Database& database, std::int64_t run,
                                              const std::vector<std::string>& keep) {
  std::map<std::int64_t, FrameSeries> frames;
  for (const auto& [id, rows] : series_by_frame(database, run))
    for (const SeriesRow& series : rows) {
      const bool stays = std::find(keep.begin(), keep.end(), series.name) != keep.end();
      (stays ? frames[id].kept : frames[id].removed).push_back(series);
    }
  return frames;
}

/// A run that has ended.
bool has_ended(SQLite::Database& database, std::int64_t run) {
  const auto row = find_run(database, run);
  return row && !telemetry::is_open(row->outcome.status);
}

/// The points of an interrupted run that are not sealed have a value for each series of the frame, by position.
void repack_tail(SQLite::Database& database, std::int64_t frame, const std::vector<std::size_t>& kept) {
  std::vector<std::pair<std::int64_t, std::string>> rows;
  auto query = prepare(database, "SELECT number, crc, data FROM tail WHERE frame = ? ORDER BY number", frame);
  while (query.executeStep()) {
    const auto row = unsealed_row(query, 1);
    if (!row || row->values.size() <= kept.back())
      continue; // damaged before
    std::vector<double> values;
    for (const std::size_t position : kept)
      values.push_back(row->values[position]);
    rows.emplace_back(query.getColumn(0).getInt64(), packed_row(row->step, values));
  }
  SQLite::Statement update(database, "UPDATE tail SET crc = ?, data = ? WHERE frame = ? AND number = ?");
  for (const auto& [number, bytes] : rows)
    execute(update, checksum(bytes.data(), bytes.size()), Bytes{bytes.data(), bytes.size()}, frame, number);
}

void remove_part(SQLite::Database& database, std::int64_t id, const FrameSeries& frame) {
  for (const SeriesRow& series : frame.removed)
    execute(database, "DELETE FROM series WHERE id = ?", series.id);
  std::vector<std::size_t> kept;
  for (const SeriesRow& series : frame.kept) {
    execute(database, "UPDATE series SET position = ? WHERE id = ?", static_cast<std::int64_t>(kept.size()), series.id);
    kept.push_back(series.position);
  }
  repack_tail(database, id, kept);
}

} // namespace

RunReader::Prunable prunable(SQLite::Database& database, const std::vector<std::int64_t>& runs,
                             const std::vector<std::string>& keep) {
  RunReader::Prunable found;
  for (const std::int64_t run : runs) {
    if (!has_ended(database, run))
      continue;
    const std::int64_t before = found.series;
    for (const auto& [id, frame] : frames_of(database, run, keep)) {
      found.series += static_cast<std::int64_t>(frame.removed.size());
      const std::uint64_t unsealed =
          size(database, "SELECT coalesce(sum(length(data)), 0) FROM tail WHERE frame = ?", id);
      for (const SeriesRow& series : frame.removed)
        found.bytes +=
            size(database, "SELECT coalesce(sum(length(data)), 0) FROM value_chunk WHERE series = ?", series.id) +
            unsealed / (frame.kept.size() + frame.removed.size());
      if (frame.kept.empty())
        found.bytes += size(database, "SELECT coalesce(sum(length(data)), 0) FROM step_chunk WHERE frame = ?", id);
    }
    if (found.series > before)
      found.runs.push_back(run);
  }
  return found;
}

std::int64_t prune_run(SQLite::Database& database, std::int64_t run, const std::vector<std::string>& keep,
                       const std::function<void(const Ledger::Run& now)>& changed) {
  if (!has_ended(database, run))
    return 0;
  std::int64_t removed = 0;
  for (const auto& [id, frame] : frames_of(database, run, keep)) {
    removed += static_cast<std::int64_t>(frame.removed.size());
    if (frame.kept.empty())
      execute(database, "DELETE FROM frame WHERE id = ?", id); // with its series and chunks
    else if (!frame.removed.empty())
      remove_part(database, id, frame);
  }
  if (removed > 0)
    changed({find_run(database, run)->uid, run,
             static_cast<std::int64_t>(size(database, "SELECT coalesce(sum(n), 0) FROM series WHERE run = ?", run))});
  return removed;
}

std::uint64_t free_bytes(SQLite::Database& database) {
  return static_cast<std::uint64_t>(database.execAndGet("PRAGMA freelist_count").getInt64()) *
         static_cast<std::uint64_t>(database.execAndGet("PRAGMA page_size").getInt64());
}

} // namespace batchscope::store::detail
