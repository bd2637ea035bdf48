#include "core/store/file/detail/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/file/detail/database_copy.h"
#include "core/store/file/detail/row_checks.h"

namespace batchscope::store::detail {

namespace {

// Uses a connection of its own, because one that holds the lock cannot copy; nobody else writes the file or a backup of
// it while that lock is held.
void back_up(const std::filesystem::path& file, int format) {
  SQLite::Database reading(file.string(), SQLite::OPEN_READWRITE);
  copy_database(reading, free_name(fmt::format("{}.format-{}.backup", file.string(), format)));
}

} // namespace

int checked_format(SQLite::Database& database, const std::filesystem::path& file, int newest) {
  // One statement, hence one snapshot: another process may be creating the database.
  SQLite::Statement query(database, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM "
                                    "pragma_application_id, pragma_user_version");
  query.executeStep();
  const int owner = query.getColumn(0).getInt();
  const int format = query.getColumn(1).getInt();
  const int objects = query.getColumn(2).getInt();
  if (owner == 0 && format == 0 && objects == 0)
    return 0;
  if (owner != application_id)
    throw input_error(fmt::format("{}: not a BatchScope database (it belongs to another program)", file.string()));
  if (format <= 0)
    throw input_error(
        fmt::format("{}: is damaged: its format is {}; accepted: 1 to {}", file.string(), format, newest));
  if (format > newest)
    throw input_error(
        fmt::format("{}: was written by a newer version of BatchScope (format {}; this version reads up to {})",
                    file.string(), format, newest));
  return format;
}

void migrate(SQLite::Database& database, const std::filesystem::path& file,
             const std::vector<std::string_view>& steps) {
  const int newest = static_cast<int>(steps.size());
  if (checked_format(database, file, newest) == newest)
    return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // Checked again under the lock: another process may have migrated it already.
  const int before = checked_format(database, file, newest);
  if (before > 0 && before < newest)
    back_up(file, before);
  for (int format = before; format < newest; ++format)
    database.exec(std::string(steps[format]));
  add_missing_checks(database);
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, newest));
  transaction.commit();
}

} // namespace batchscope::store::detail
