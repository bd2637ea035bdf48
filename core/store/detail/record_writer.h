#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/run_buffer.h"
#include "core/store/detail/run_rows.h"

namespace batchscope::store::detail {

/// Writes the content of RunBuffers to the database, inside the caller's transaction. Throws SQLite::Exception.
class RecordWriter {
public:
  explicit RecordWriter(SQLite::Database& database);

  /// Writes everything that the run holds. Call RunBuffer::committed() once the transaction is committed.
  void write(RunBuffer& run);

private:
  void create(FrameBuffer& frame, std::int64_t run);
  void seal(FrameBuffer& frame, std::size_t begin, std::size_t end);
  void write_frame(FrameBuffer& frame, bool to_the_end);
  void write_tail(const FrameBuffer& frame);
  void write_summaries(const FrameBuffer& frame);
  void write_events(const RunBuffer& run);
  void write_start(const RunBuffer& run);
  void write_outcome(const RunBuffer& run);

  SQLite::Database& database_;
  SQLite::Statement insert_frame_;
  SQLite::Statement insert_series_;
  SQLite::Statement insert_steps_;
  SQLite::Statement insert_values_;
  SQLite::Statement clear_tail_;
  SQLite::Statement insert_tail_;
  SQLite::Statement update_series_;
  SQLite::Statement insert_event_;
  SQLite::Statement update_start_;
  RunUpdate update_run_;
};

} // namespace batchscope::store::detail
