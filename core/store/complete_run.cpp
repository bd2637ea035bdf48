#include "core/store/detail/complete_run.h"

#include "core/store/detail/record_writer.h"
#include "core/store/detail/run_buffer.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/sql.h"
#include "core/store/detail/tags.h"

namespace batchscope::store::detail {

std::int64_t insert_complete(SQLite::Database& database, const CompleteRun& run, std::optional<std::int64_t> sweep) {
  NewRun row;
  row.name = run.name;
  row.spec_json = run.spec_json;
  row.start_json = run.start_json;
  row.environment_json = run.environment_json;
  row.sweep = sweep;
  row.batch = run.outcome.batch;
  const std::int64_t id = insert_run(database, row, run.uid, std::nullopt);
  SQLite::Statement update(database, "UPDATE run SET started = ?, note = ?, workers = ?, tags = ? WHERE id = ?");
  update.bind(1, run.started);
  update.bind(2, run.note);
  update.bind(3, run.workers);
  update.bind(4, stored_tags(run.tags));
  update.bind(5, id);
  execute(update);
  RunBuffer buffer(id, run.uid, row, 1);
  for (const auto& [name, points] : run.series)
    buffer.add_series(name, points);
  for (const StoredEvent& event : run.events)
    buffer.add_event(event);
  buffer.outcome = run.outcome;
  RecordWriter(database).write(buffer);
  return id;
}

} // namespace batchscope::store::detail
