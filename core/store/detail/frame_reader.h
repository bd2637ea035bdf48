#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/frames.h"
#include "core/store/detail/series_reader.h"
#include "core/store/run_follower.h"

namespace batchscope::store::detail {

/// Reads frames from any point on without reading what comes before; inside the caller's transaction. Prepares its
/// statements once. Throws SQLite::Exception.
class FrameReader {
public:
  explicit FrameReader(SQLite::Database& database);

  /// Reads up to `most` points of a frame, beginning with number `first`; `series` are all series of the frame in the
  /// order of their positions. Skips nothing: reports damage and gaps to `complain`, which throws.
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
