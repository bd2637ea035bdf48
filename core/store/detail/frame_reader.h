#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/series_reader.h"
#include "core/store/run_follower.h"

namespace batchscope::store::detail {

/// Points of a frame that follow each other, all its series side by side.
struct FramePoints {
  std::vector<std::int64_t> steps;
  std::vector<std::vector<double>> values; ///< values[k][i]: of the k-th series at steps[i]
};

/// Reads frames from any point on, without what lies before it; inside a transaction of the caller. Statements are
/// prepared once. Throws SQLite::Exception.
class FrameReader {
public:
  explicit FrameReader(SQLite::Database& database);

  /// The points first, first + 1, ... of a frame, at most `most`; `series` are all of the frame in the order of their
  /// positions. Nothing is left out: damage and gaps are told to `complain`, which throws.
  FramePoints read(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most,
                   const Complaint& complain);

  RunFollower::ChunkReads chunks_read() const { return chunks_read_; }

private:
  bool read_sealed(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most,
                   const Complaint& complain, FramePoints& points);
  void read_tail(const std::vector<SeriesRow>& series, std::int64_t first, std::size_t most, const Complaint& complain,
                 FramePoints& points);
  std::vector<double> chunk_values(const SeriesRow& series, std::int64_t first, std::size_t n,
                                   const Complaint& complain);

  RunFollower::ChunkReads chunks_read_;
  SQLite::Statement steps_;
  SQLite::Statement values_;
  SQLite::Statement tail_;
};

} // namespace batchscope::store::detail
