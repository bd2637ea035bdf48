#include "core/run/spec_fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/detail/field_member.h"
#include "core/run/detail/later_fields.h"

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

/// The field of a program's placeholders; each has a value of its own, so there is no member.
const SpecField& placeholder_field() {
  static const SpecField field{.key = "set",
                               .label = "Placeholder",
                               .placeholder = "NAME=VALUE",
                               .help = "Text for {NAME} in the command",
                               .group = "Model and data",
                               .for_programs = true,
                               .option = "--set"};
  return field;
}

/// The text of a program's placeholder; throws Error (input) if it has none of this name.
std::string& placeholder_text(RunSpec& spec, const std::string& name) {
  if (spec.program)
    if (const auto found = spec.program->set.find(name); found != spec.program->set.end())
      return found->second;
  throw input_error(fmt::format("unknown run field {}", in_quotes("set." + name)));
}

bool has_field(const RunSpec& spec, const SpecField& field) {
  return !spec.program || field.for_programs;
}

/// For an option of another field; as a word of a command.
std::string shown_value(const std::string& text) {
  return text.empty() ? std::string("VALUE") : shell_quoted(shortened(text));
}

/// The first field that means nothing for a program and yet is set; throws Error (input) for it.
void refuse_engine_fields(const RunSpec& spec) {
  const RunSpec standard;
  for (const SpecField& field : spec_fields())
    if (!field.for_programs && field.member->text(spec) != field.member->text(standard))
      throw input_error(
          fmt::format("{}: the program decides this itself; accepted: without {}, or --set {}={} with {{{}}} in the "
                      "command, which stands for the value",
                      field.option, field.option, field.key, shown_value(field.member->text(spec)), field.key),
          field.key.c_str());
}

void check_program(const RunSpec& spec) {
  refuse_engine_fields(spec);
  about_field("program", [&] { check(*spec.program); });
  if (spec.batch.kind != BatchChoice::Kind::number && spec.batch.kind != BatchChoice::Kind::automatic)
    throw input_error(
        fmt::format("--batch: {} is not accepted for a program; accepted: a whole number, at least 1; `find` searches "
                    "for one",
                    to_string(spec.batch)),
        "batch");
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
  if (placeholder_in(key))
    return placeholder_field();
  const auto& fields = spec_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const SpecField& field) { return field.key == key; });
  if (found == fields.end())
    throw input_error(fmt::format("unknown run field {}", in_quotes(key)));
  return *found;
}

std::optional<std::string> placeholder_in(const std::string& key) {
  constexpr std::string_view prefix = "set.";
  return key.starts_with(prefix) ? std::optional(key.substr(prefix.size())) : std::nullopt;
}

std::vector<std::string> keys_of(const RunSpec& spec) {
  std::vector<std::string> keys;
  for (const SpecField& field : spec_fields())
    if (has_field(spec, field))
      keys.push_back(field.key);
  if (spec.program)
    for (const auto& [name, text] : spec.program->set)
      keys.push_back("set." + name);
  return keys;
}

std::string field_text(const RunSpec& spec, const std::string& key) {
  if (const auto name = placeholder_in(key)) {
    RunSpec copy = spec;
    return placeholder_text(copy, *name);
  }
  return spec_field(key).member->text(spec);
}

std::string field_shown(const RunSpec& spec, const std::string& key) {
  if (placeholder_in(key))
    return field_text(spec, key);
  const SpecField& field = spec_field(key);
  std::string text = field.member->text(spec);
  if (text.empty() && field.derived)
    text = field.derived(spec);
  return text.empty() ? field.default_text : text;
}

void set_field(RunSpec& spec, const std::string& key, const std::string& given) {
  if (const auto name = placeholder_in(key)) {
    placeholder_text(spec, *name) = given;
    return;
  }
  const SpecField& field = spec_field(key);
  const std::string text(trimmed(given));
  if (text.empty())
    field.member->set_default(spec);
  else
    about_field(field.key.c_str(), [&] { field.member->set_text(spec, text, field); });
}

void check(const RunSpec& spec) {
  refuse_later(spec.later_json);
  if (spec.program)
    check_program(spec);
  for (const SpecField& field : spec_fields())
    if (has_field(spec, field))
      check_field(spec, field);
}

std::vector<std::pair<std::string, std::string>> check_fields(const RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> wrong;
  const auto collect = [&](const std::string& key, const auto& check_one) {
    try {
      check_one();
    } catch (const Error& error) {
      wrong.emplace_back(*error.field() == 0 ? key : error.field(), error.what());
    }
  };
  collect(spec.program ? "program" : "model", [&] { refuse_later(spec.later_json); });
  if (!wrong.empty())
    return wrong;
  if (spec.program)
    collect("program", [&] { check_program(spec); });
  for (const SpecField& field : spec_fields())
    if (has_field(spec, field))
      collect(field.key, [&] { check_field(spec, field); });
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
    if (!has_field(spec, field))
      continue;
    const std::string text = field.member->text(spec);
    const bool always = field.key == "model" || field.key == "data" || // what a command is about
                        (field.key == "seed" && spec.program && spec.program->seeded);
    if (!always && (text.empty() || text == field.member->text(standard)))
      continue;
    line += (line.empty() ? "" : " ") + field.option;
    if (field.kind != Kind::flag)
      line += ' ' + shell_quoted(text);
  }
  if (spec.program)
    line += fmt::format("{}{}", line.empty() ? "" : " ", options_text(*spec.program));
  return line;
}

} // namespace batchscope::run
