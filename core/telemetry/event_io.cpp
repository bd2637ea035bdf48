#include "core/telemetry/detail/event_io.h"

#include <map>

#include "core/telemetry/english.h"

namespace batchscope::telemetry {

namespace {

bool is_number_or_null(const Json& value) {
  return value.is_null() || optional_number_from_json(value);
}

bool is_integer_or_null(const Json& value) {
  return value.is_null() ||
         (value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer());
}

bool is_size_or_null(const Json& value) {
  return value.is_null() || value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

bool is_text_or_null(const Json& value) {
  return value.is_null() || value.is_string();
}

std::map<std::string, Value> args_in(const Json& object) {
  std::map<std::string, Value> args;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string() && !is_number_or_null(value)) // "NaN" and infinities are texts in JSON
      args[name] = value.get<std::string>();
    else if (value.is_number_integer())
      args[name] = value.get<std::int64_t>();
    else if (value.is_number() || value.is_string())
      args[name] = number_from_json(value);
    else if (!value.is_null())
      args[name] = json_text(value);
  }
  return args;
}

Json json_of(const std::map<std::string, Value>& args) {
  Json json = Json::object();
  for (const auto& [name, value] : args) {
    if (const auto* number = std::get_if<double>(&value))
      json[name] = json_number(*number);
    else if (const auto* integer = std::get_if<std::int64_t>(&value))
      json[name] = *integer;
    else
      json[name] = std::get<std::string>(value);
  }
  return json;
}

/// The sentence is kept only where the code is not known.
Reason reason_from(const std::string& code, const Json* args, const std::string& text) {
  Reason reason{.code = code, .args = {}, .text = text};
  if (args)
    reason.args = args_in(*args);
  if (words_of_code(code))
    reason.text.clear();
  return reason;
}

Reason reason_in(const Json& object) {
  const auto args = object.find("args");
  return reason_from(text_member(object, "code"), args != object.end() && args->is_object() ? &*args : nullptr,
                     text_member(object, "text"));
}

} // namespace

const Json* Reading::take(const char* name, bool (*fits)(const Json&)) {
  const auto found = detail_.find(name);
  if (found == detail_.end() || !fits(*found))
    return nullptr;
  read_.insert(name);
  return found->is_null() ? nullptr : &*found;
}

void Reading::operator()(const char* name, std::optional<std::int64_t>& value) {
  if (const Json* found = take(name, is_integer_or_null))
    value = found->get<std::int64_t>();
}

void Reading::operator()(const char* name, std::optional<std::uint64_t>& value) {
  if (const Json* found = take(name, is_size_or_null))
    value = found->get<std::uint64_t>();
}

void Reading::operator()(const char* name, std::optional<double>& value) {
  if (const Json* found = take(name, is_number_or_null))
    value = number_from_json(*found);
}

void Reading::operator()(const char* name, std::optional<std::string>& value) {
  if (const Json* found = take(name, is_text_or_null))
    value = found->get<std::string>();
}

void Reading::operator()(const char* name, std::string& value) {
  if (const Json* found = take(name, is_text_or_null))
    value = found->get<std::string>();
}

void Reading::operator()(const char* name, bool& value) {
  if (const Json* found = take(name, [](const Json& each) { return each.is_boolean(); }))
    value = found->get<bool>();
}

void Reading::reason(const char* name, Reason& value) {
  std::optional<Reason> found;
  reason(name, found);
  if (found)
    value = *std::move(found);
}

void Reading::reason(const char* name, std::optional<Reason>& value) {
  const std::string code_name = std::string(name) + "_code", args_name = std::string(name) + "_args";
  const auto is_reason = [](const Json& each) {
    return !text_member(each, "code").empty() || !text_member(each, "text").empty();
  };
  if (const Json* object = take(name, is_reason)) {
    value = reason_in(*object);
    read_.insert({code_name, args_name}); // it has its own
    return;
  }
  std::optional<std::string> text, code;
  (*this)(name, text);
  (*this)(code_name.c_str(), code);
  const Json* args = take(args_name.c_str(), [](const Json& each) { return each.is_object(); });
  if (!text.value_or(std::string()).empty() || code)
    value = reason_from(code.value_or(std::string()), args, text.value_or(std::string()));
}

void Reading::json(const char* name, std::string& object_json) {
  if (const Json* found = take(name, [](const Json& each) { return each.is_object(); }))
    object_json = json_text(*found);
}

Json Reading::rest() const {
  Json rest = Json::object();
  for (const auto& [name, value] : detail_.items())
    if (!read_.contains(name))
      rest[name] = value;
  return rest;
}

void Writing::reason(const char* name, const Reason& value) {
  note(name, {"", "_code", "_args"});
  if (value.empty())
    return;
  json_[name] = words_of_code(value.code) ? english(value) : value.text;
  if (!value.code.empty())
    json_[std::string(name) + "_code"] = value.code;
  if (!value.args.empty())
    json_[std::string(name) + "_args"] = json_of(value.args);
}

void Writing::json(const char* name, const std::string& object_json) {
  note(name);
  Json object = parse_json_or_discard(object_json);
  json_[name] = object.is_object() ? std::move(object) : Json::object();
}

} // namespace batchscope::telemetry
