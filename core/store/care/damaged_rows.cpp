#include "core/store/care/detail/damaged_rows.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/store/file/detail/database.h"

namespace batchscope::store::detail {

namespace {

/// The first rowid above `after` from which on rows can be read again; nothing if there is none.
std::optional<std::int64_t> next_readable(SQLite::Database& database, const std::string& table, std::int64_t after) {
  // A page holds at most some hundred rows; a damaged inner page hides many pages.
  constexpr int single_steps = 1000;
  constexpr int most_steps = single_steps + 40;
  SQLite::Statement query(
      database, fmt::format("SELECT rowid FROM {} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1", table));
  std::int64_t from = std::max<std::int64_t>(after, 0) + 1;
  std::int64_t stride = 1;
  for (int step = 0; step < most_steps; ++step) {
    try {
      query.bind(1, from);
      if (!query.executeStep())
        return std::nullopt;
      return query.getColumn(0).getInt64();
    } catch (const SQLite::Exception& exception) {
      if (!is_damage(exception))
        throw;
      query.tryReset();
    }
    stride = step < single_steps ? 1 : stride * 2;
    if (from > std::numeric_limits<std::int64_t>::max() - stride)
      break;
    from += stride;
  }
  return std::nullopt;
}

} // namespace

void scan_rows(SQLite::Database& database, const std::string& table, const std::string& columns,
               const std::function<void(SQLite::Statement& row)>& take,
               const std::function<void(std::int64_t after)>& skipped) {
  SQLite::Statement query(
      database, fmt::format("SELECT rowid, {} FROM {} NOT INDEXED WHERE rowid >= ? ORDER BY rowid", columns, table));
  std::optional<std::int64_t> from = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = 0;
  while (from) {
    try {
      query.bind(1, *from);
      while (query.executeStep()) {
        take(query);
        last = query.getColumn(0).getInt64();
      }
      return;
    } catch (const SQLite::Exception& exception) {
      if (!is_damage(exception))
        throw;
      query.tryReset();
      // A row may be found and yet not be read to its end: then it is the first one of this attempt.
      last = std::max(last, *from);
      skipped(last);
      const auto next = next_readable(database, table, last);
      if (next && *next <= last)
        return; // rows in a wrong order
      from = next;
    }
  }
}

} // namespace batchscope::store::detail
