#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/detail/field_member.h"
#include "core/run/detail/later_fields.h"
#include "core/run/run_spec.h"
#include "core/run/spec_fields.h"

namespace batchscope::run {

namespace {

void check_version(const Json& document) {
  const auto found = document.find("version");
  if (found == document.end())
    return;
  if (!found->is_number_unsigned() || *found < 1 || *found > RunSpec::current_version)
    throw input_error(fmt::format("field \"version\": {} is not accepted; accepted: 1 to {}",
                                  shortened(json_text(*found)), RunSpec::current_version));
}

std::vector<std::string> known_names() {
  std::vector<std::string> known{"version", "program"};
  for (const SpecField& field : spec_fields())
    known.push_back(field.key);
  return known;
}

/// The fields that are not known, an object.
Json later_fields(const Json& document) {
  const std::vector<std::string> known = known_names();
  Json later = Json::object();
  for (const auto& [name, value] : document.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      later[name] = value;
  return later;
}

void check_names(const Json& document) {
  const Json unknown = later_fields(document);
  if (!unknown.empty())
    throw input_error(fmt::format("unknown field {}; accepted: {}", in_quotes(unknown.begin().key()),
                                  fmt::join(known_names(), ", ")));
}

/// From an object whose names were checked, or are not to be.
RunSpec spec_from(const Json& document, const RunSpec& base, ProgramSpec (*program_from)(const Json&)) {
  check_version(document);
  RunSpec spec = base;
  std::vector<std::string> given;
  for (const SpecField& field : spec_fields())
    if (const auto found = document.find(field.key); found != document.end() && !found->is_null())
      given.push_back(field.key);
  unset_alternatives(spec, given);
  for (const SpecField& field : spec_fields())
    if (const auto found = document.find(field.key); found != document.end())
      about_field(field.key.c_str(), [&] { field.member->set_json(spec, *found, field); });
  if (const auto program = document.find("program"); program != document.end() && !program->is_null())
    about_field("program", [&] { spec.program = program_from(*program); });
  if (!spec.length.epochs && !spec.length.examples && !spec.length.steps)
    spec.length = RunSpec{}.length;
  return spec;
}

Json object_from(const std::string& text) {
  Json document = parse_json(text);
  if (!document.is_object())
    throw input_error("a run specification must be a JSON object");
  return document;
}

} // namespace

std::string to_json(const RunSpec& spec, int indent) {
  Json document;
  document["version"] = RunSpec::current_version;
  for (const SpecField& field : spec_fields())
    if (!spec.program || field.for_programs)
      document[field.key] = field.member->json(spec);
  if (spec.program)
    document["program"] = to_json(*spec.program);
  add_later(spec.later_json, document);
  return json_text(document, indent);
}

RunSpec run_spec_from_json(const std::string& text, const RunSpec& base) {
  const Json document = object_from(text);
  check_names(document);
  return spec_from(document, base, program_spec_from_json);
}

RunSpec stored_spec_from_json(const std::string& text) {
  const Json document = object_from(text);
  RunSpec spec = spec_from(document, {}, stored_program_from_json);
  if (const Json later = later_fields(document); !later.empty())
    spec.later_json = json_text(later);
  return spec;
}

void add_later(const std::string& later_json, Json& object) {
  const Json later = parse_json_or_discard(later_json);
  if (later.is_object())
    for (const auto& [name, value] : later.items())
      object[name] = value;
}

void refuse_later(const std::string& later_json) {
  if (later_json.empty())
    return;
  const Json later = parse_json_or_discard(later_json);
  throw input_error(fmt::format("its settings have {}, which only a newer version of BatchScope knows, and which alone "
                                "can make the run",
                                in_quotes(later.is_object() && !later.empty() ? later.begin().key() : "more")));
}

std::optional<RunSpec> stored_spec(const std::string& text) {
  try {
    // Specs stored by this program have all fields; `{}` says nothing, although it would read as all defaults.
    const Json document = parse_json_or_discard(text);
    const bool is_ours = document.contains("model") || document.contains("program");
    return is_ours ? std::optional(stored_spec_from_json(text)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

} // namespace batchscope::run
