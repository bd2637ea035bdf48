#include "core/exchange/detail/sqlite_file.h"

#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/imported_run.h"

namespace batchscope::exchange::detail {

bool is_sqlite(const std::filesystem::path& path) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  return first_bytes(path, magic.size()) == magic;
}

bool has_column(SQLite::Database& database, const std::string& table, const std::string& column) {
  SQLite::Statement query(database, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  query.bind(1, table);
  query.bind(2, column);
  return query.executeStep();
}

ImportedRuns read_sqlite(const std::filesystem::path& path, const std::string& whose,
                         const std::function<ImportedRuns(SQLite::Database&)>& read) {
  constexpr int patience_ms = 5000;
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READONLY, patience_ms);
    const SQLite::Transaction moment(database);
    return read(database);
  } catch (const SQLite::Exception& exception) {
    constexpr int busy = 5; // SQLITE_BUSY
    if (exception.getErrorCode() == busy)
      throw input_error("locked by another program; wait until it is done");
    throw input_error(fmt::format("cannot be read as {}'s database: {}", whose, exception.what()));
  }
}

} // namespace batchscope::exchange::detail
