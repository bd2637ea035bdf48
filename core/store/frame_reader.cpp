#include "core/store/detail/frame_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

FrameReader::FrameReader(SQLite::Database& database)
    : steps_(database, "SELECT first, n, first_step, last_step, crc, data FROM step_chunk "
                       "WHERE frame = ? AND first > ? ORDER BY first"),
      values_(database, "SELECT n, crc, data FROM value_chunk WHERE series = ? AND first = ?"),
      tail_(database, "SELECT number, crc, data FROM tail WHERE frame = ? AND number >= ? ORDER BY number LIMIT ?") {}

FramePoints FrameReader::read(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most,
                              const Complaint& complain) {
  FramePoints points;
  points.values.resize(series.size());
  if (read_sealed(series, first, most, complain, points))
    read_tail(series, first, most, complain, points);
  return points;
}

/// Returns false if sealed points remain.
bool FrameReader::read_sealed(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most,
                              const Complaint& complain, FramePoints& points) {
  const ResetAtEnd reset(steps_);
  steps_.bind(1, series.front().frame);
  // The chunk with the first point begins less than a chunk's length before it.
  steps_.bind(2, first - static_cast<std::int64_t>(chunk_points));
  while (steps_.executeStep()) {
    const std::int64_t begin = steps_.getColumn(0).getInt64();
    const std::int64_t end = begin + steps_.getColumn(1).getInt64();
    const std::int64_t next = first + static_cast<std::int64_t>(points.steps.size());
    if (end <= next)
      continue;
    if (points.steps.size() == most)
      return false;
    if (begin > next)
      complain(fmt::format("points {} to {} are missing", next, begin - 1));
    ++chunks_read_.steps;
    const auto steps = sealed_steps(steps_, 1);
    if (!steps)
      complain(fmt::format("points {} to {} have damaged steps", begin, end - 1));
    const auto from = next - begin;
    const auto n = std::min(end - next, static_cast<std::int64_t>(most - points.steps.size()));
    points.steps.insert(points.steps.end(), steps->begin() + from, steps->begin() + from + n);
    for (std::size_t k = 0; k < series.size(); ++k) {
      const auto values = chunk_values(series[k], begin, steps->size(), complain);
      points.values[k].insert(points.values[k].end(), values.begin() + from, values.begin() + from + n);
    }
    if (n < end - next)
      return false;
  }
  return true;
}

std::vector<double> FrameReader::chunk_values(const SeriesRow& series, std::int64_t first, std::size_t n,
                                              const Complaint& complain) {
  const ResetAtEnd reset(values_);
  values_.bind(1, series.id);
  values_.bind(2, first);
  ++chunks_read_.values;
  auto values = values_.executeStep() ? sealed_values(values_, 0) : std::nullopt;
  if (!values || values->size() != n)
    complain(fmt::format("points {} to {} of {} have damaged values", first, first + static_cast<std::int64_t>(n) - 1,
                         series.name));
  return *std::move(values);
}

void FrameReader::read_tail(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most,
                            const Complaint& complain, FramePoints& points) {
  const ResetAtEnd reset(tail_);
  std::int64_t next = first + static_cast<std::int64_t>(points.steps.size());
  tail_.bind(1, series.front().frame);
  tail_.bind(2, next);
  tail_.bind(3, static_cast<std::int64_t>(most - points.steps.size()));
  for (; tail_.executeStep(); ++next) {
    const std::int64_t number = tail_.getColumn(0).getInt64();
    if (number != next)
      complain(fmt::format("points {} to {} are missing", next, number - 1));
    const auto row = unsealed_row(tail_, 1);
    if (!row || row->values.size() != series.size())
      complain(fmt::format("point {} is damaged", number));
    points.steps.push_back(row->step);
    for (std::size_t k = 0; k < series.size(); ++k)
      points.values[k].push_back(row->values[k]);
  }
}

} // namespace batchscope::store::detail
