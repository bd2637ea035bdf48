#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace batchscope {

/// JSON that keeps insertion order.
using Json = nlohmann::ordered_json;

/// Finite numbers as JSON numbers; NaN and infinities as "NaN", "Infinity", "-Infinity".
inline Json json_number(double value) {
  if (std::isfinite(value))
    return value;
  if (std::isnan(value))
    return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

/// A value, or null. Numbers as json_number() writes them.
template <typename Value> Json json_or_null(const std::optional<Value>& value) {
  if (!value)
    return nullptr;
  if constexpr (std::is_floating_point_v<Value>)
    return json_number(*value);
  else
    return *value;
}

/// Throws Error (input) naming line and column instead of the library's exception, and for more than 500 levels.
Json parse_json(const std::string& text);
/// For text that other programs may have written: a value with is_discarded() where it is not JSON.
Json parse_json_or_discard(const std::string& text);

/// As text, indented by this many spaces, or in one line. Bytes that are not UTF-8, in text from elsewhere, become
/// U+FFFD instead of an error.
std::string json_text(const Json& value, int indent = -1);

/// A member of an object that is a text; empty for an object without such a member, and for any other value.
inline std::string text_member(const Json& object, const char* name) {
  if (!object.is_object())
    return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The inverse of json_number(); any other value gives NaN.
inline double number_from_json(const Json& value) {
  if (value.is_number())
    return value.get<double>();
  if (value == "Infinity")
    return std::numeric_limits<double>::infinity();
  if (value == "-Infinity")
    return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

/// The same for a value that is a number, or the text that json_number() makes of one; nothing for any other.
inline std::optional<double> optional_number_from_json(const Json& value) {
  const bool is_number = value.is_number() || value == "NaN" || value == "Infinity" || value == "-Infinity";
  return is_number ? std::optional(number_from_json(value)) : std::nullopt;
}

/// Sets the target to a member of an object. One that is missing, as in the files of earlier versions, or null leaves
/// the target as it is. Throws Json::exception for a value of another type.
template <typename Value> void read_member(const Json& object, const char* name, Value& target) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null())
    return;
  if constexpr (std::is_same_v<Value, double>)
    target = number_from_json(*found);
  else
    found->get_to(target);
}
template <typename Value> void read_member(const Json& object, const char* name, std::optional<Value>& target) {
  Value value = target.value_or(Value());
  const auto found = object.find(name);
  if (found == object.end() || found->is_null())
    return;
  read_member(object, name, value);
  target = std::move(value);
}

} // namespace batchscope
