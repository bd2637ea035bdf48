#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/store/run_row.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

/// Reads one run of a database from its beginning while any process writes it. Each poll returns what was stored since
/// the last one, everything once and in order. Does not create a database. One thread at a time.
class RunFollower {
public:
  /// Throws Error (input) for a file as RunReader does, and if the run does not exist (or is deleted).
  RunFollower(const std::filesystem::path& file, std::int64_t id);
  ~RunFollower();
  RunFollower(RunFollower&&) noexcept;
  RunFollower& operator=(RunFollower&&) noexcept;

  struct Update {
    /// A missing value is NaN, or StepRecord's default for integers.
    std::vector<telemetry::StepRecord> records;
    /// Events, including those that only carry values: points of the series that are not stored with the records, such
    /// as validation_loss, with their names as in RunReader::series_names(). If there is more to come, no event is
    /// later than the last record.
    std::vector<telemetry::Event> events;
    RunRow row;        ///< as of now; once the run has ended and `more` is false, nothing more will come
    bool more = false; ///< the next poll has data already
  };
  /// Returns at most `max_records` records (at least 1), and about as many points of every other series. Throws Error:
  /// input if the run was deleted meanwhile, failed if the file cannot be read or is damaged.
  Update poll(std::size_t max_records = 8192);

  /// Sealed chunks decoded so far. Following an ended run from its beginning decodes each of its chunks once.
  struct ChunkReads {
    std::uint64_t steps = 0;  ///< of frames
    std::uint64_t values = 0; ///< of series
  };
  ChunkReads chunks_read() const;

  class Impl;

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::store
