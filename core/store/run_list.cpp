// Changes of the list of runs.
#include "core/store/detail/run_list.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"
#include "core/store/run_reader.h"

namespace batchscope::store::detail {

namespace {

/// Reads single runs and counts the rows.
class RowReader {
public:
  explicit RowReader(SQLite::Database& database) : query_(database, run_query("run.id = ? AND deleted IS NULL")) {}

  std::optional<RunRow> read(std::int64_t id) {
    query_.reset();
    query_.bind(1, id);
    ++rows_;
    return query_.executeStep() ? std::optional(read_run(query_)) : std::nullopt;
  }
  std::size_t rows() const { return rows_; }

private:
  SQLite::Statement query_;
  std::size_t rows_ = 0;
};

std::vector<std::int64_t> changed_since(SQLite::Database& database, std::int64_t change) {
  auto ids = find_integers(database, "SELECT id FROM run INDEXED BY run_changed WHERE changed > ?", change);
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Reads changed rows; for those now marked as deleted, only their numbers.
void read_changed(SQLite::Database& database, RowReader& reader, const ListCursor& cursor, ListChanges& changes) {
  for (const std::int64_t id : changed_since(database, *cursor.change)) {
    if (auto row = reader.read(id))
      changes.rows.push_back(*std::move(row));
    else if (cursor.known.count(id) > 0)
      changes.removed.push_back(id);
  }
}

/// Finds purged rows, of which only the number is known.
void find_removed(SQLite::Database& database, const ListCursor& cursor, ListChanges& changes) {
  std::set<std::int64_t> there;
  SQLite::Statement query(database, "SELECT id FROM run WHERE deleted IS NULL");
  while (query.executeStep())
    there.insert(query.getColumn(0).getInt64());
  changes.rows_read += there.size();
  changes.removed.clear();
  std::set_difference(cursor.known.begin(), cursor.known.end(), there.begin(), there.end(),
                      std::back_inserter(changes.removed));
}

/// A run whose process has ended reads as interrupted, although nothing in the file changes.
void find_interrupted(RowReader& reader, const ListCursor& cursor, ListChanges& changes) {
  const auto by_id = [](const RunRow& row, std::int64_t id) { return row.id < id; };
  std::vector<RunRow> found;
  for (const auto& [id, status] : cursor.open) {
    const auto changed = std::lower_bound(changes.rows.begin(), changes.rows.end(), id, by_id);
    if (changed != changes.rows.end() && changed->id == id)
      continue;
    auto row = reader.read(id);
    if (row && row->outcome.status != status)
      found.push_back(*std::move(row));
  }
  for (RunRow& row : found)
    changes.rows.insert(std::lower_bound(changes.rows.begin(), changes.rows.end(), row.id, by_id), std::move(row));
}

void move_on(ListCursor& cursor, const ListChanges& changes) {
  if (changes.all)
    cursor = {};
  for (const RunRow& row : changes.rows) {
    cursor.known.insert(row.id);
    if (telemetry::is_open(row.outcome.status))
      cursor.open[row.id] = row.outcome.status;
    else
      cursor.open.erase(row.id);
  }
  for (const std::int64_t id : changes.removed) {
    cursor.known.erase(id);
    cursor.open.erase(id);
  }
}

/// Counters of the database: changes so far, and purged runs.
std::pair<std::int64_t, std::int64_t> counts(SQLite::Database& database) {
  SQLite::Statement query(database, "SELECT changes, removed FROM run_changes");
  if (!query.executeStep())
    return {0, 0};
  return {query.getColumn(0).getInt64(), query.getColumn(1).getInt64()};
}

ListChanges read_all(SQLite::Database& database) {
  ListChanges changes;
  changes.all = true;
  SQLite::Statement query(database, run_query("deleted IS NULL"));
  while (query.executeStep())
    changes.rows.push_back(read_run(query));
  changes.rows_read = changes.rows.size();
  return changes;
}

ListChanges read_since(SQLite::Database& database, const ListCursor& cursor, std::int64_t change,
                       std::int64_t removed) {
  ListChanges changes;
  RowReader reader(database);
  if (change > *cursor.change)
    read_changed(database, reader, cursor, changes);
  if (removed > cursor.removed)
    find_removed(database, cursor, changes);
  find_interrupted(reader, cursor, changes);
  changes.rows_read += reader.rows();
  return changes;
}

} // namespace

ListChanges read_list_changes(SQLite::Database& database, ListCursor& cursor) {
  const auto [change, removed] = counts(database);
  const bool other = !cursor.change || change < *cursor.change || removed < cursor.removed;
  ListChanges changes = other ? read_all(database) : read_since(database, cursor, change, removed);
  move_on(cursor, changes);
  cursor.change = change;
  cursor.removed = removed;
  return changes;
}

} // namespace batchscope::store::detail
