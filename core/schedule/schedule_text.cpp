#include "core/schedule/schedule_text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::schedule {

ScheduleText::ScheduleText(const std::string& text) : text_(text), named_(parse_named(text, "schedule")) {}

void ScheduleText::accept_only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : named_.parameters) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      continue;
    if (keys.size() == 0)
      refuse(fmt::format("'{}' takes no parameters, but '{}' was given", named_.name, shortened(key)));
    refuse(fmt::format("unknown key '{}'; accepted: {}", shortened(key), fmt::join(keys, ", ")));
  }
}

const std::string* ScheduleText::find(std::string_view key) const {
  for (const auto& [name, value] : named_.parameters)
    if (name == key)
      return &value;
  return nullptr;
}

const std::string& ScheduleText::value(std::string_view key) const {
  const std::string* found = find(key);
  if (!found)
    refuse(fmt::format("'{}=' is missing", key));
  return *found;
}

std::string ScheduleText::field(std::string_view key) const {
  return fmt::format("schedule '{}', {}", shortened(text_), key);
}

std::int64_t ScheduleText::integer(std::string_view key, std::int64_t lowest) const {
  return parse_integer(value(key), field(key), lowest, std::numeric_limits<std::int64_t>::max());
}

double ScheduleText::positive(std::string_view key, std::optional<double> otherwise) const {
  if (otherwise && !has(key))
    return *otherwise;
  const double number = parse_number(value(key), field(key));
  if (!(number > 0))
    refuse(fmt::format("{} is {}; accepted: numbers above 0", key, shortened(value(key))));
  return number;
}

void ScheduleText::refuse(const std::string& why) const {
  throw input_error(fmt::format("schedule '{}': {}", shortened(text_), why));
}

} // namespace batchscope::schedule
