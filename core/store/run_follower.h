#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/store/run_store.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

/// Follows one run of a database from its beginning, whoever writes it: each poll gives what was stored since the last,
/// everything once and in order. Makes no database. One thread at a time.
class RunFollower {
public:
  /// Throws Error (input) for a file as RunReader does, and where the run is not there (or deleted).
  RunFollower(const std::filesystem::path& file, std::int64_t id);
  ~RunFollower();
  RunFollower(RunFollower&&) noexcept;
  RunFollower& operator=(RunFollower&&) noexcept;

  struct Update {
    /// A value that the run does not have is NaN, or what StepRecord has for it where it is a whole number.
    std::vector<telemetry::StepRecord> records;
    /// What happened, and events without a kind: points of the series that are not stored with the records, such as
    /// validation_loss, with their names as in RunReader::series_names(). Where there is more to come, nothing in it is
    /// later than the last record.
    std::vector<telemetry::Event> events;
    RunRow row;        ///< as of this moment; a run that is over with nothing more to come will give nothing more
    bool more = false; ///< the next poll has something already
  };
  /// At most `most_records` records (at least 1), and about as many points of every other series. Throws Error: input
  /// where the run was deleted meanwhile, failed where the file cannot be read or is damaged.
  Update poll(std::size_t most_records = 8192);

  /// Sealed chunks that were taken apart so far. From its beginning a run that is over costs each of its chunks once.
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
