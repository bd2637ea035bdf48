#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/detail/spec_visit.h"
#include "core/run/run_spec.h"

namespace batchscope::run {

namespace {

Error wrong_type(const std::string& field, const Json& given, const char* accepted) {
  return input_error(fmt::format("field \"{}\": {} is not accepted; accepted: {}", field,
                                 shortened(given.dump(-1, ' ', false, Json::error_handler_t::replace)), accepted));
}

void read(const std::string& field, const Json& value, std::string& target) {
  if (!value.is_string())
    throw wrong_type(field, value, "a string");
  target = value.get<std::string>();
}

void read(const std::string& field, const Json& value, bool& target) {
  if (!value.is_boolean())
    throw wrong_type(field, value, "true or false");
  target = value.get<bool>();
}

void read(const std::string& field, const Json& value, std::int64_t& target) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    throw wrong_type(field, value, "a whole number");
  target = value.get<std::int64_t>();
}

void read(const std::string& field, const Json& value, std::uint64_t& target) {
  if (!value.is_number_unsigned())
    throw wrong_type(field, value, "a whole number, at least 0");
  target = value.get<std::uint64_t>();
}

void read(const std::string& field, const Json& value, double& target) {
  if (!value.is_number())
    throw wrong_type(field, value, "a number");
  target = value.get<double>();
}

void read(const std::string& field, const Json& value, BatchChoice& target) {
  if (!value.is_string() && !value.is_number_integer())
    throw wrong_type(field, value, "a number, or auto, auto:recommended, auto:safe, auto:largest");
  target = parse_batch(value.is_string() ? value.get<std::string>() : value.dump(), "field \"" + field + '"');
}

void read(const std::string& field, const Json& value, OnOom& target) {
  std::string text;
  read(field, value, text);
  target = parse_on_oom(text, "field \"" + field + '"');
}

template <typename Value> void read(const std::string& field, const Json& value, std::optional<Value>& target) {
  if (value.is_null())
    target.reset();
  else
    read(field, value, target.emplace());
}

Json written(const BatchChoice& choice) {
  return choice.kind == BatchChoice::Kind::number ? Json(choice.number) : Json(to_string(choice));
}
Json written(OnOom choice) {
  return to_string(choice);
}
Json written(double value) {
  return json_number(value);
}
template <typename Value> Json written(const Value& value) {
  return value;
}
template <typename Value> Json written(const std::optional<Value>& value) {
  return value ? written(*value) : Json(nullptr);
}

void check_version(const Json& document) {
  const auto found = document.find("version");
  if (found == document.end())
    return;
  std::int64_t version = 0;
  read("version", *found, version);
  if (version < 1 || version > RunSpec::current_version)
    throw input_error(
        fmt::format("field \"version\": {} is not accepted; accepted: 1 to {}", version, RunSpec::current_version));
}

void check_names(const Json& document) {
  std::vector<std::string> known{"version"};
  RunSpec spec;
  for_each_field(spec, [&](const char* field, auto&) { known.emplace_back(field); });
  for (const auto& [name, value] : document.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw input_error(fmt::format("unknown field {}; accepted: {}", in_quotes(name), fmt::join(known, ", ")));
}

bool gives_length(const Json& document) {
  for (const char* field : {"epochs", "examples", "steps"})
    if (document.contains(field) && !document[field].is_null())
      return true;
  return false;
}

/// Further accepted forms: a budget with a unit, a warm-up as a number, a name with several lines.
Json normalized(const std::string& field, const Json& value) {
  if (field == "memory_budget" && value.is_string())
    return parse_size(value.get<std::string>(), "field \"memory_budget\"");
  if (field == "warmup" && value.is_number_integer())
    return value.dump();
  if (field == "name" && value.is_string())
    return one_line(value.get<std::string>());
  return value;
}

} // namespace

std::string to_json(const RunSpec& spec, int indent) {
  Json document;
  document["version"] = RunSpec::current_version;
  for_each_field(spec, [&](const char* field, const auto& member) { document[field] = written(member); });
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

RunSpec run_spec_from_json(const std::string& text, const RunSpec& base) {
  const Json document = parse_json(text);
  if (!document.is_object())
    throw input_error("a run specification must be a JSON object");
  check_version(document);
  check_names(document);
  RunSpec spec = base;
  // One kind of length replaces the others.
  if (gives_length(document))
    spec.length = {};
  if (document.contains("effective_batch") && !document["effective_batch"].is_null() &&
      !document.contains("accumulate"))
    spec.accumulate = 1;
  if (document.contains("accumulate") && !document.contains("effective_batch"))
    spec.effective_batch.reset();
  for_each_field(spec, [&](const char* field, auto& member) {
    if (const auto found = document.find(field); found != document.end())
      read(field, normalized(field, *found), member);
  });
  if (!spec.length.epochs && !spec.length.examples && !spec.length.steps)
    spec.length = RunSpec{}.length;
  return spec;
}

} // namespace batchscope::run
