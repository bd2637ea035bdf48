#include "core/store/detail/ownership.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/detail/check.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::vector<std::int64_t> gone_processes(SQLite::Database& database) {
  std::vector<std::int64_t> gone;
  SQLite::Statement query(database, "SELECT id, host, boot, pid, started FROM process");
  while (query.executeStep()) {
    if (is_gone(read_process(query, 1)))
      gone.push_back(query.getColumn(0).getInt64());
  }
  return gone;
}

void refuse_damaged(SQLite::Database& database, const std::filesystem::path& file) {
  const auto damage = check_quickly(database);
  if (!damage.empty())
    throw Error(
        Error::Kind::failed,
        fmt::format("{0}: damaged ({1}) after a program crashed while writing to it; run `batchscope-cli --db {0} "
                    "check` for details, restore a backup or use another file",
                    file.string(), damage.front()));
}

} // namespace

ProcessIdentity read_process(SQLite::Statement& query, int first) {
  ProcessIdentity process;
  process.host = query.getColumn(first).getString();
  set_boot_text(process, query.getColumn(first + 1).getString());
  process.pid = query.getColumn(first + 2).getInt64();
  process.started = query.getColumn(first + 3).getInt64();
  return process;
}

std::int64_t enter_process(SQLite::Database& database, const std::filesystem::path& file, const OpenStore& store) {
  if (!gone_processes(database).empty()) // they have not closed it
    refuse_damaged(database, file);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  SQLite::Statement interrupt(database,
                              "UPDATE run SET status = 'interrupted' WHERE process = ? AND status = 'queued'");
  for (const std::int64_t id : gone_processes(database)) {
    execute(interrupt, id);
    leave_process(database, id);
  }
  database.exec("UPDATE run SET status = 'interrupted' WHERE process IS NULL AND status = 'running'");
  ProcessIdentity self = this_process();
  self.store = store.number();
  auto id = find_integer(database, "SELECT id FROM process WHERE host = ? AND boot = ? AND pid = ? AND started = ?",
                         self.host, boot_text(self), self.pid, self.started);
  if (!id) {
    execute(database, "INSERT INTO process (host, boot, pid, started) VALUES (?, ?, ?, ?)", self.host, boot_text(self),
            self.pid, self.started);
    id = database.getLastInsertRowid();
  }
  transaction.commit();
  return *id;
}

// The foreign key sets its runs' process to NULL, which marks those that were still running.
void leave_process(SQLite::Database& database, std::int64_t id) {
  execute(database, "DELETE FROM process WHERE id = ?", id);
}

} // namespace batchscope::store::detail
