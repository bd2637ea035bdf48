#include "core/store/detail/views.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

void store_view(SQLite::Database& database, const std::string& name, const std::string& content_json) {
  if (one_line(name).empty())
    throw input_error("a view needs a name");
  parse_json(content_json);
  execute(database,
          "INSERT INTO view (name, created, content) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET content = "
          "excluded.content",
          name, utc_now(), content_json);
}

void remove_view(SQLite::Database& database, const std::string& name) {
  if (execute(database, "DELETE FROM view WHERE name = ?", name) == 0)
    throw input_error(fmt::format("there is no view {}", in_quotes(name)));
}

std::vector<SavedView> read_views(SQLite::Database& database) {
  std::vector<SavedView> views;
  SQLite::Statement query(database, "SELECT name, created, content FROM view ORDER BY name");
  while (query.executeStep())
    views.push_back({.name = query.getColumn(0), .created = query.getColumn(1), .content_json = query.getColumn(2)});
  return views;
}

} // namespace batchscope::store::detail
