#include "core/store/care/detail/saved_points.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/store/care/detail/damaged_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/row_checks.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

/// Calls `work` with the row; nothing happens if it cannot be read.
template <typename Work> void with_row(SQLite::Database& database, const char* text, std::int64_t id, Work&& work) {
  try {
    auto query = prepare(database, text, id);
    if (query.executeStep())
      work(query);
  } catch (const SQLite::Exception& exception) {
    if (!is_damage(exception))
      throw;
  }
}

} // namespace

SavedPoints::SavedPoints(SQLite::Database& database) : database_(database) {
  find_series();
  find_chunks();
}

void SavedPoints::find_series() {
  const auto tables = checked_tables(database_);
  const auto table =
      std::find_if(tables.begin(), tables.end(), [](const CheckedTable& each) { return each.name == "series"; });
  if (table == tables.end())
    return;
  scan_rows(
      database_, "series", "run, frame, position, n, name, " + check_columns(*table),
      [&](SQLite::Statement& row) {
        SeriesPlace place{.id = row.getColumn(0).getInt64(),
                          .run = row.getColumn(1).getInt64(),
                          .frame = row.getColumn(2).getInt64(),
                          .position = row.getColumn(3).getInt64(),
                          .stored = row.getColumn(4).getInt64(),
                          .name = row.getColumn(5)};
        if (!damage_of(row, 6, *table).empty())
          lost_.push_back(fmt::format("a series, probably {} of run {}: the run it belongs to is not known", place.name,
                                      place.run));
        else
          series_.push_back(std::move(place));
      },
      [&](std::int64_t) { lost_.emplace_back("some series: the page with their names cannot be read"); });
}

void SavedPoints::find_chunks() {
  const auto nothing = [](std::int64_t) {}; // counted by their series
  scan_rows(
      database_, "step_chunk", "n, first_step, last_step, crc, data, frame, first",
      [&](SQLite::Statement& row) {
        if (sealed_steps(row, 1))
          steps_[row.getColumn(6).getInt64()][row.getColumn(7).getInt64()] = row.getColumn(0).getInt64();
      },
      nothing);
  scan_rows(
      database_, "value_chunk", "n, crc, data, series, first",
      [&](SQLite::Statement& row) {
        if (sealed_values(row, 1))
          values_[row.getColumn(4).getInt64()][row.getColumn(5).getInt64()] = row.getColumn(0).getInt64();
      },
      nothing);
}

std::vector<std::int64_t> SavedPoints::runs() const {
  std::set<std::int64_t> runs;
  for (const SeriesPlace& place : series_)
    runs.insert(place.run);
  return {runs.begin(), runs.end()};
}

std::vector<SavedPoints::SavedFrame> SavedPoints::of_run(std::int64_t run) const {
  std::map<std::int64_t, std::vector<const SeriesPlace*>> frames;
  for (const SeriesPlace& place : series_)
    if (place.run == run)
      frames[place.frame].push_back(&place);
  std::vector<SavedFrame> all;
  for (auto& [id, series] : frames) {
    std::sort(series.begin(), series.end(),
              [](const SeriesPlace* a, const SeriesPlace* b) { return a->position < b->position; });
    all.push_back(frame_of(series));
  }
  return all;
}

SavedPoints::SavedFrame SavedPoints::frame_of(const std::vector<const SeriesPlace*>& series) const {
  SavedFrame frame;
  for (const SeriesPlace* place : series)
    frame.series.push_back({.name = place->name, .values = {}, .there = {}, .stored = place->stored});
  add_chunks(series, frame);
  add_tail(series, frame);
  return frame;
}

void SavedPoints::add_chunks(const std::vector<const SeriesPlace*>& series, SavedFrame& frame) const {
  const auto chunks = steps_.find(series.front()->frame);
  if (chunks == steps_.end())
    return;
  for (const auto& [first, row] : chunks->second) {
    const std::size_t before = frame.steps.size();
    with_row(database_, "SELECT n, first_step, last_step, crc, data FROM step_chunk WHERE id = ?", row,
             [&](SQLite::Statement& query) {
               const auto steps = sealed_steps(query, 0);
               frame.steps.insert(frame.steps.end(), steps->begin(), steps->end());
             });
    for (std::size_t k = 0; k < series.size(); ++k) {
      SavedPoints::Series& saved = frame.series[k];
      saved.values.resize(frame.steps.size());
      saved.there.resize(frame.steps.size(), false);
      const auto places = values_.find(series[k]->id);
      if (places == values_.end() || !places->second.contains(first))
        continue;
      with_row(database_, "SELECT n, crc, data FROM value_chunk WHERE id = ?", places->second.at(first),
               [&](SQLite::Statement& query) {
                 const auto values = sealed_values(query, 0);
                 if (values->size() != frame.steps.size() - before)
                   return;
                 std::copy(values->begin(), values->end(), saved.values.begin() + static_cast<std::ptrdiff_t>(before));
                 std::fill(saved.there.begin() + static_cast<std::ptrdiff_t>(before), saved.there.end(), true);
               });
    }
  }
}

/// Rows are appended in the order of their numbers; one that cannot be read ends them, as after it nothing is found.
void SavedPoints::add_tail(const std::vector<const SeriesPlace*>& series, SavedFrame& frame) const {
  try {
    auto query =
        prepare(database_, "SELECT number, crc, data FROM tail WHERE frame = ? ORDER BY number", series.front()->frame);
    while (query.executeStep()) {
      const auto row = unsealed_row(query, 1);
      if (!row)
        continue;
      frame.steps.push_back(row->step);
      for (std::size_t k = 0; k < series.size(); ++k) {
        const auto position = static_cast<std::size_t>(series[k]->position);
        const bool there = position < row->values.size();
        frame.series[k].values.push_back(there ? row->values[position] : 0);
        frame.series[k].there.push_back(there);
      }
    }
  } catch (const SQLite::Exception& exception) {
    if (!is_damage(exception))
      throw;
  }
}

} // namespace batchscope::store::detail
