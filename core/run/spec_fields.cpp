#include "core/run/spec_fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/detail/field_member.h"

namespace batchscope::run {

namespace {

using Kind = SpecField::Kind;

void check_bounds(const RunSpec& spec, const SpecField& field) {
  const auto value = field.member->number(spec);
  const auto& [least, includes_least, below] = field.bounds;
  if (!value || (std::isfinite(*value) && (includes_least ? *value >= least : *value > least) && *value < below))
    return;
  const char* what = field.kind == Kind::integer ? "a whole number, " : field.kind == Kind::real ? "a number, " : "";
  throw input_error(
      fmt::format("{}: {} is not accepted; accepted: {}{}", field.option, field.member->text(spec), what, field.range));
}

void check_choice(const RunSpec& spec, const SpecField& field) {
  const std::string given = field.member->text(spec);
  if (std::find(field.choices.begin(), field.choices.end(), given) == field.choices.end())
    throw input_error(fmt::format("{}: {} is not accepted; accepted: {}", field.option, in_quotes(given),
                                  fmt::join(field.choices, ", ")));
}

void check_field(const RunSpec& spec, const SpecField& field) {
  about_field(field.key.c_str(), [&] {
    check_bounds(spec, field);
    if (field.kind == Kind::choice)
      check_choice(spec, field);
    if (field.check)
      field.check(spec);
  });
}

} // namespace

const SpecField& spec_field(const std::string& key) {
  const auto& fields = spec_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const SpecField& field) { return field.key == key; });
  if (found == fields.end())
    throw input_error(fmt::format("unknown run field {}", in_quotes(key)));
  return *found;
}

std::string field_text(const RunSpec& spec, const std::string& key) {
  return spec_field(key).member->text(spec);
}

std::string field_shown(const RunSpec& spec, const std::string& key) {
  const SpecField& field = spec_field(key);
  std::string text = field.member->text(spec);
  if (text.empty() && field.derived)
    text = field.derived(spec);
  return text.empty() ? field.default_text : text;
}

void set_field(RunSpec& spec, const std::string& key, const std::string& given) {
  const SpecField& field = spec_field(key);
  const std::string text(trimmed(given));
  if (text.empty())
    field.member->set_default(spec);
  else
    about_field(field.key.c_str(), [&] { field.member->set_text(spec, text, field); });
}

void check(const RunSpec& spec) {
  for (const SpecField& field : spec_fields())
    check_field(spec, field);
}

std::vector<std::pair<std::string, std::string>> check_fields(const RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> wrong;
  for (const SpecField& field : spec_fields()) {
    try {
      check_field(spec, field);
    } catch (const Error& error) {
      wrong.emplace_back(field.key, error.what());
    }
  }
  return wrong;
}

void unset_alternatives(RunSpec& spec, const std::vector<std::string>& given) {
  const auto is_given = [&](const std::string& key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  for (const std::string& key : given)
    for (const std::string& other : spec_field(key).alternatives)
      if (!is_given(other))
        spec_field(other).member->unset(spec);
}

std::string to_command_line(const RunSpec& spec) {
  const RunSpec standard;
  std::string line;
  for (const SpecField& field : spec_fields()) {
    const std::string text = field.member->text(spec);
    const bool always = field.key == "model" || field.key == "data"; // what a command is about
    if (!always && (text.empty() || text == field.member->text(standard)))
      continue;
    line += (line.empty() ? "" : " ") + field.option;
    if (field.kind != Kind::flag)
      line += ' ' + shell_quoted(text);
  }
  return line;
}

} // namespace batchscope::run
