#include "core/store/detail/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::store::detail {

namespace {

// Written under another name first, so that a backup is whole or not there.
void back_up(SQLite::Database& database, const std::filesystem::path& file, int format) {
  std::filesystem::path target = file;
  target += fmt::format(".format-{}.backup", format);
  std::filesystem::path unfinished = target;
  unfinished += ".unfinished";
  std::filesystem::remove(unfinished);
  SQLite::Statement copy(database, "VACUUM INTO ?");
  copy.bind(1, unfinished.string());
  copy.exec();
  std::filesystem::rename(unfinished, target);
}

} // namespace

int checked_format(SQLite::Database& database, const std::filesystem::path& file, int newest) {
  const int owner = database.execAndGet("PRAGMA application_id").getInt();
  const int format = database.execAndGet("PRAGMA user_version").getInt();
  const int objects = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt();
  if (owner == 0 && format == 0 && objects == 0)
    return 0;
  if (owner != application_id)
    throw input_error(fmt::format("{}: a database of another program, not BatchScope's", file.string()));
  if (format > newest)
    throw input_error(fmt::format("{}: was written by a newer BatchScope (format {}; this one reads up to {})",
                                  file.string(), format, newest));
  return format;
}

void migrate(SQLite::Database& database, const std::filesystem::path& file,
             const std::vector<std::string_view>& steps) {
  const int newest = static_cast<int>(steps.size());
  const int before = checked_format(database, file, newest);
  if (before == newest)
    return;
  if (before > 0)
    back_up(database, file, before);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // Asked again under the lock: another process may have been faster.
  for (int format = checked_format(database, file, newest); format < newest; ++format)
    database.exec(std::string(steps[format]));
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, newest));
  transaction.commit();
}

} // namespace batchscope::store::detail
