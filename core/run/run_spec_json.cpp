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
  std::vector<std::string> known{"version"};
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
    document[field.key] = field.member->json(spec);
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
    if (name != "version" && !value.is_null())
      given.push_back(name);
  unset_alternatives(spec, given);
  for (const SpecField& field : spec_fields())
    if (const auto found = document.find(field.key); found != document.end())
      about_field(field.key.c_str(), [&] { field.member->set_json(spec, *found, field); });
  if (!spec.length.epochs && !spec.length.examples && !spec.length.steps)
    spec.length = RunSpec{}.length;
  return spec;
}

std::optional<RunSpec> stored_spec(const std::string& text) {
  try {
    // What this program stores has all fields; `{}` says nothing, although it would read as all defaults.
    return parse_json_or_discard(text).contains("model") ? std::optional(run_spec_from_json(text)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

} // namespace batchscope::run
