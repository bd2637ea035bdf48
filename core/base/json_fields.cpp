#include "core/base/json_fields.h"

#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope {

namespace {

bool is_within_int64(const Json& json) {
  return json.is_number_unsigned() ? json.get<std::uint64_t>() <= INT64_MAX : json.is_number_integer();
}

} // namespace

void JsonWriter::json(const char* name, const std::string& object_json) {
  Json object = parse_json_or_discard(object_json);
  json_[name] = object.is_object() ? std::move(object) : Json::object();
}

void JsonReader::json(const char* name, std::string& object_json) {
  if (const Json* found = find_object(name))
    object_json = json_text(*found);
}

const Json* JsonReader::find(const char* name) {
  if (!object_.is_object())
    return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end())
    return nullptr;
  list(name);
  return found->is_null() ? nullptr : &*found;
}

const Json* JsonReader::find_if(const char* name, bool (Json::*fits)() const, const char* accepted) {
  const Json* found = find(name);
  if (!found || (found->*fits)())
    return found;
  mistyped(name, *found, accepted);
  listed_.erase(name);
  return nullptr;
}

Json JsonReader::rest() const {
  Json rest = Json::object();
  for (const auto& [name, value] : object_.items())
    if (!listed_.contains(name))
      rest[name] = value;
  return rest;
}

void JsonReader::mistyped(const std::string& name, const Json& value, const std::string& accepted) const {
  if (mistyped_ == Mistyped::refused)
    throw input_error(fmt::format("field \"{}\": {} is not accepted; accepted: {}", path_of(name),
                                  shortened(json_text(value)), accepted));
}

void JsonReader::throw_missing(const char* name) const {
  throw input_error(fmt::format("field \"{}\" is missing", path_of(name)));
}

bool JsonReader::read(const Json& json, const std::string& name, bool& value) const {
  if (json.is_boolean())
    value = json.get<bool>();
  else
    mistyped(name, json, "true or false");
  return json.is_boolean();
}

bool JsonReader::read(const Json& json, const std::string& name, double& value) const {
  const auto number = optional_number_from_json(json);
  if (number)
    value = *number;
  else
    mistyped(name, json, "a number");
  return number.has_value();
}

bool JsonReader::read(const Json& json, const std::string& name, std::string& value) const {
  if (json.is_string())
    value = json.get<std::string>();
  else
    mistyped(name, json, "a string");
  return json.is_string();
}

bool JsonReader::read(const Json& json, const std::string& name, std::int64_t& value) const {
  const bool fits = is_within_int64(json);
  if (fits)
    value = json.get<std::int64_t>();
  else
    mistyped(name, json, "a whole number");
  return fits;
}

bool JsonReader::read(const Json& json, const std::string& name, std::uint64_t& value) const {
  const bool fits = json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
  if (fits)
    value = json.get<std::uint64_t>();
  else
    mistyped(name, json, "a whole number, at least 0");
  return fits;
}

bool JsonReader::read(const Json& json, const std::string& name, int& value) const {
  using Limits = std::numeric_limits<int>;
  const bool fits =
      is_within_int64(json) && json.get<std::int64_t>() >= Limits::min() && json.get<std::int64_t>() <= Limits::max();
  if (fits)
    value = json.get<int>();
  else
    mistyped(name, json, "a whole number of at most 32 bits");
  return fits;
}

} // namespace batchscope
