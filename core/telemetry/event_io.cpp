#include "core/telemetry/detail/event_io.h"

#include <map>

#include "core/telemetry/english.h"

namespace batchscope::telemetry {

namespace {

std::map<std::string, Value> args_in(const Json& object) {
  std::map<std::string, Value> args;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string() && !optional_number_from_json(value)) // "NaN" and infinities are texts in JSON
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

Json args_json(const std::map<std::string, Value>& args) {
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

void Reading::reason(const char* name, Reason& value) {
  std::optional<Reason> found;
  reason(name, found);
  if (found)
    value = *std::move(found);
}

void Reading::reason(const char* name, std::optional<Reason>& value) {
  const std::string code_name = std::string(name) + "_code", args_name = std::string(name) + "_args";
  const Json* given = find(name);
  if (given && (!text_member(*given, "code").empty() || !text_member(*given, "text").empty())) {
    value = reason_in(*given);
    list(code_name); // it has its own
    list(args_name);
    return;
  }
  std::optional<std::string> text, code;
  (*this)(name, text);
  (*this)(code_name.c_str(), code);
  const Json* args = find_object(args_name.c_str());
  if (!text.value_or(std::string()).empty() || code)
    value = reason_from(code.value_or(std::string()), args, text.value_or(std::string()));
}

void Writing::reason(const char* name, const Reason& value) {
  note(name, {"", "_code", "_args"});
  if (value.empty())
    return;
  out()[name] = words_of_code(value.code) ? english(value) : value.text;
  if (!value.code.empty())
    out()[std::string(name) + "_code"] = value.code;
  if (!value.args.empty())
    out()[std::string(name) + "_args"] = args_json(value.args);
}

} // namespace batchscope::telemetry
