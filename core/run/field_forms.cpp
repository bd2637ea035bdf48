#include "core/run/detail/field_forms.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::run {

namespace {

std::string name_in_json(const SpecField& field) {
  return "field \"" + field.key + '"';
}

Error wrong_type(const SpecField& field, const Json& given, const char* accepted) {
  return input_error(
      fmt::format("{}: {} is not accepted; accepted: {}", name_in_json(field), shortened(json_text(given)), accepted));
}

} // namespace

std::string TextForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_string())
    throw wrong_type(field, json, "a string");
  return json.get<std::string>();
}

std::string LineForm::from_text(const std::string& text, const SpecField& /*field*/) {
  return one_line(text);
}

std::string LineForm::from_json(const Json& json, const SpecField& field) {
  return one_line(TextForm::from_json(json, field));
}

std::string StepsForm::from_json(const Json& json, const SpecField& field) {
  return json.is_number_integer() ? json_text(json) : TextForm::from_json(json, field);
}

OnOom OnOomForm::from_text(const std::string& text, const SpecField& field) {
  return parse_on_oom(text, field.option);
}

OnOom OnOomForm::from_json(const Json& json, const SpecField& field) {
  return parse_on_oom(TextForm::from_json(json, field), name_in_json(field));
}

BatchChoice BatchForm::from_text(const std::string& text, const SpecField& field) {
  return parse_batch(text, field.option);
}

Json BatchForm::json(const BatchChoice& value) {
  return value.kind == BatchChoice::Kind::number ? Json(value.number) : Json(to_string(value));
}

BatchChoice BatchForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_string() && !json.is_number_integer())
    throw wrong_type(field, json, "a number, or auto, auto:recommended, auto:safe, auto:largest, 50%");
  return parse_batch(json.is_string() ? json.get<std::string>() : json_text(json), name_in_json(field));
}

EvaluationInterval EvaluationForm::from_text(const std::string& text, const SpecField& field) {
  return parse_evaluation_interval(text, field.option);
}

Json EvaluationForm::json(const EvaluationInterval& value) {
  return value.steps > 0 ? Json(value.steps) : Json(to_string(value));
}

EvaluationInterval EvaluationForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_string() && !json.is_number_integer())
    throw wrong_type(field, json, "a whole number, or a text such as \"10%\"");
  return parse_evaluation_interval(json.is_string() ? json.get<std::string>() : json_text(json), name_in_json(field));
}

std::int64_t IntegerForm::from_text(const std::string& text, const SpecField& field) {
  return parse_integer(text, field.option, static_cast<std::int64_t>(field.bounds.least), INT64_MAX);
}

std::int64_t IntegerForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX))
    throw wrong_type(field, json, "a whole number");
  return json.get<std::int64_t>();
}

std::uint64_t SeedForm::from_text(const std::string& text, const SpecField& field) {
  return static_cast<std::uint64_t>(parse_integer(text, field.option, 0, INT64_MAX));
}

std::uint64_t SeedForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_number_unsigned())
    throw wrong_type(field, json, "a whole number, at least 0");
  return json.get<std::uint64_t>();
}

std::string SizeForm::text(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 6> units = {{{1'000'000'000, "GB"},
                                                                           {1ULL << 30, "GiB"},
                                                                           {1'000'000, "MB"},
                                                                           {1ULL << 20, "MiB"},
                                                                           {1000, "kB"},
                                                                           {1ULL << 10, "KiB"}}};
  for (const auto& [unit, name] : units) {
    if (bytes > 0 && bytes % unit == 0)
      return fmt::format("{}{}", bytes / unit, name);
  }
  return fmt::format("{}", bytes);
}

std::uint64_t SizeForm::from_text(const std::string& text, const SpecField& field) {
  return parse_size(text, field.option);
}

std::uint64_t SizeForm::from_json(const Json& json, const SpecField& field) {
  return json.is_string() ? parse_size(json.get<std::string>(), name_in_json(field)) : SeedForm::from_json(json, field);
}

std::string RealForm::text(double value) {
  return fmt::format("{}", value);
}

double RealForm::from_text(const std::string& text, const SpecField& field) {
  return parse_number(text, field.option);
}

double RealForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_number())
    throw wrong_type(field, json, "a number");
  return json.get<double>();
}

bool FlagForm::from_text(const std::string& text, const SpecField& field) {
  if (text != "true" && text != "false")
    throw input_error(fmt::format("{}: {} is not accepted; accepted: true, false", field.option, in_quotes(text)));
  return text == "true";
}

bool FlagForm::from_json(const Json& json, const SpecField& field) {
  if (!json.is_boolean())
    throw wrong_type(field, json, "true or false");
  return json.get<bool>();
}

} // namespace batchscope::run
