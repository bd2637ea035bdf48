#include "core/store/detail/ownership.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/detail/process.h"
#include "core/store/detail/sql.h"

namespace batchscope::store::detail {

namespace {

std::vector<std::int64_t> gone_processes(SQLite::Database& database) {
  std::vector<std::int64_t> gone;
  SQLite::Statement query(database, "SELECT id, host, boot, pid, started FROM process");
  while (query.executeStep()) {
    const ProcessIdentity process{.host = query.getColumn(1),
                                  .boot = query.getColumn(2),
                                  .pid = query.getColumn(3).getInt64(),
                                  .started = query.getColumn(4).getInt64()};
    if (is_gone(process))
      gone.push_back(query.getColumn(0).getInt64());
  }
  return gone;
}

void check_quickly(SQLite::Database& database, const std::filesystem::path& file) {
  const std::string answer = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (answer != "ok")
    throw Error(Error::Kind::failed,
                fmt::format("{}: damaged ({}) after a program that wrote to it ended abruptly; `batchscope-cli check` "
                            "says more, restore a backup or give another file",
                            file.string(), answer));
}

} // namespace

std::int64_t enter_process(SQLite::Database& database, const std::filesystem::path& file) {
  if (!gone_processes(database).empty())
    check_quickly(database, file);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const std::int64_t id : gone_processes(database))
    leave_process(database, id);
  database.exec("UPDATE run SET status = 'interrupted' WHERE process IS NULL AND status IN ('running', 'queued')");
  const ProcessIdentity self = this_process();
  SQLite::Statement insert(database, "INSERT INTO process (host, boot, pid, started) VALUES (?, ?, ?, ?)");
  insert.bind(1, self.host);
  insert.bind(2, self.boot);
  insert.bind(3, self.pid);
  insert.bind(4, self.started);
  execute(insert);
  const std::int64_t id = database.getLastInsertRowid();
  transaction.commit();
  return id;
}

// Its runs lose their process by the foreign key, so what was still running is found by that.
void leave_process(SQLite::Database& database, std::int64_t id) {
  SQLite::Statement remove(database, "DELETE FROM process WHERE id = ?");
  remove.bind(1, id);
  execute(remove);
}

} // namespace batchscope::store::detail
