#include "core/store/detail/tags.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/store/detail/run_changes.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"
#include "core/store/run_row.h"

namespace batchscope::store {

bool is_tag(const std::string& text) {
  const bool number = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return !number && one_line(text) == text;
}

namespace detail {

// Most runs have none, and a list of runs reads many.
std::vector<std::string> tags_from(const std::string& stored) {
  std::vector<std::string> tags;
  if (stored == "[]")
    return tags;
  const Json json = parse_json_or_discard(stored);
  if (json.is_array())
    for (const Json& tag : json)
      if (tag.is_string())
        tags.push_back(tag.get<std::string>());
  return tags;
}

std::string stored_tags(const std::vector<std::string>& tags) {
  return json_text(Json(std::set<std::string>(tags.begin(), tags.end())));
}

void change_tags(SQLite::Database& database, const std::vector<std::int64_t>& runs,
                 const std::vector<std::string>& tags, bool add) {
  for (const std::string& tag : tags)
    if (!is_tag(tag))
      throw input_error(
          fmt::format("{} cannot be a tag; accepted: a text in one line that is not a whole number", in_quotes(tag)));
  SQLite::Statement update(database, "UPDATE run SET tags = ? WHERE id = ?");
  for (const std::int64_t run : runs) {
    const auto row = find_run(database, run);
    if (!row)
      throw no_run(run);
    std::vector<std::string> changed = row->tags;
    if (add)
      changed.insert(changed.end(), tags.begin(), tags.end());
    else
      std::erase_if(changed,
                    [&](const std::string& tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); });
    execute(update, stored_tags(changed), run);
  }
}

} // namespace detail

} // namespace batchscope::store
