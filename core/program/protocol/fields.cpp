#include "core/program/protocol/detail/fields.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::program {

namespace {

Error wrong_type(const std::string& name, const Json& value, const std::string& accepted) {
  return input_error(fmt::format("{} is {}; accepted: {}", name, shortened(json_text(value)), accepted));
}

} // namespace

const Json* Fields::find(const char* name) const {
  const auto found = json_.find(name);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::string Fields::text(const char* name) const {
  const Json* value = find(name);
  if (!value)
    return {};
  if (!value->is_string())
    throw wrong_type(name, *value, "a text");
  return value->get<std::string>();
}

bool Fields::truth(const char* name) const {
  const Json* value = find(name);
  if (value && !value->is_boolean())
    throw wrong_type(name, *value, "true or false");
  return value && value->get<bool>();
}

std::int64_t Fields::integer(const char* name, std::int64_t least) const {
  const auto value = optional_integer(name, least);
  if (!value)
    throw input_error(fmt::format("no `{}`", name));
  return *value;
}

std::optional<std::int64_t> Fields::optional_integer(const char* name, std::int64_t least) const {
  const Json* value = find(name);
  return value ? std::optional(integer_in(*value, name, least)) : std::nullopt;
}

std::optional<double> Fields::optional_number(const char* name) const {
  const Json* value = find(name);
  if (!value)
    return std::nullopt;
  const auto number = optional_number_from_json(*value);
  if (!number)
    throw wrong_type(name, *value, R"(a number, "NaN", "Infinity" or "-Infinity")");
  return number;
}

std::vector<std::pair<std::string, double>> Fields::numbers(const char* name) const {
  std::vector<std::pair<std::string, double>> numbers;
  const Json* values = object(name);
  if (!values)
    return numbers;
  for (const auto& [key, value] : values->items()) {
    if (value.is_null())
      continue;
    const auto number = optional_number_from_json(value);
    if (!number)
      throw wrong_type(fmt::format("{}.{}", name, shortened(key)), value, "a number");
    numbers.emplace_back(key, *number);
  }
  return numbers;
}

const Json* Fields::object(const char* name) const {
  const Json* value = find(name);
  if (value && !value->is_object())
    throw wrong_type(name, *value, "an object");
  return value;
}

const Json* Fields::array(const char* name) const {
  const Json* value = find(name);
  if (value && !value->is_array())
    throw wrong_type(name, *value, "a list");
  return value;
}

std::int64_t integer_in(const Json& value, const char* name, std::int64_t least) {
  constexpr std::int64_t most = std::int64_t{1} << 53; // beyond, numbers of other languages are not exact
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= most : value.is_number_integer();
  if (!fits || value.get<std::int64_t>() < least)
    throw wrong_type(name, value, fmt::format("an integer from {} to 2^53", least));
  return value.get<std::int64_t>();
}

} // namespace batchscope::program
