#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/detail/field_member.h"
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

void check_names(const Json& document) {
  std::vector<std::string> known{"version", "program"};
  for (const SpecField& field : spec_fields())
    known.push_back(field.key);
  for (const auto& [name, value] : document.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw input_error(fmt::format("unknown field {}; accepted: {}", in_quotes(name), fmt::join(known, ", ")));
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
  return json_text(document, indent);
}

RunSpec run_spec_from_json(const std::string& text, const RunSpec& base) {
  const Json document = parse_json(text);
  if (!document.is_object())
    throw input_error("a run specification must be a JSON object");
  check_version(document);
  check_names(document);
  RunSpec spec = base;
  std::vector<std::string> given;
  for (const auto& [name, value] : document.items())
    if (name != "version" && name != "program" && !value.is_null())
      given.push_back(name);
  unset_alternatives(spec, given);
  for (const SpecField& field : spec_fields())
    if (const auto found = document.find(field.key); found != document.end())
      about_field(field.key.c_str(), [&] { field.member->set_json(spec, *found, field); });
  if (const auto program = document.find("program"); program != document.end() && !program->is_null())
    about_field("program", [&] { spec.program = program_spec_from_json(*program); });
  if (!spec.length.epochs && !spec.length.examples && !spec.length.steps)
    spec.length = RunSpec{}.length;
  return spec;
}

std::optional<RunSpec> stored_spec(const std::string& text) {
  try {
    // What this program stores has all fields; `{}` says nothing, although it would read as all defaults.
    const Json document = parse_json_or_discard(text);
    const bool is_ours = document.contains("model") || document.contains("program");
    return is_ours ? std::optional(run_spec_from_json(text)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

} // namespace batchscope::run
