#include "core/schedule/schedule_text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

/// Of a known kind, a refused part is answered with the kind's form.
NamedParameters parameters_of_kind(const std::string& text) {
  const ScheduleKind* kind = kind_of(text);
  const auto colon = text.find(':');
  std::string_view rest = kind && colon != std::string::npos ? std::string_view(text).substr(colon + 1) : "";
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    if (part.find('=') == std::string_view::npos)
      throw input_error(fmt::format("schedule '{}': {} is not a parameter; accepted: {}", shortened(text),
                                    in_quotes(part), kind->form));
  }
  return parse_named(text, "schedule");
}

} // namespace

ScheduleText::ScheduleText(const std::string& text) : text_(text), named_(parameters_of_kind(text)) {}

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
