#include "app/cli/run_options.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/data/input_file.h"
#include "core/run/spec_fields.h"
#include "core/schedule/batch_schedule.h"

namespace batchscope::cli {

namespace {

using run::SpecField;

std::string help_of(const SpecField& field) {
  std::string text = field.help;
  const bool told = !field.choices.empty() && text.find(field.choices.front()) != std::string::npos;
  if (field.kind == SpecField::Kind::choice && !told)
    text += fmt::format(": {}", fmt::join(field.choices, ", "));
  if (field.kind != SpecField::Kind::flag && !field.default_text.empty())
    text += fmt::format(" (default {})", field.default_text);
  return text;
}

/// On the command line an option that is given means something, so an empty text is refused, but for a name.
void refuse_empty(const SpecField& field, const std::string& value) {
  if (field.key == "name" || value.find_first_not_of(" \t\r\n") != std::string::npos)
    return;
  const std::string accepted = field.kind == SpecField::Kind::choice ? fmt::format("{}", fmt::join(field.choices, ", "))
                               : field.range.empty()                 ? field.help
                                                                     : field.range;
  throw input_error(fmt::format("{}: {} is not accepted; accepted: {}", field.option, in_quotes(value), accepted));
}

} // namespace

void RunOptions::add_to(CLI::App& app, const std::vector<std::string>& without,
                        const std::map<std::string, std::string>& helps) {
  for (const SpecField& field : run::spec_fields()) {
    if (std::find(without.begin(), without.end(), field.option) != without.end())
      continue;
    const bool flag = field.kind == SpecField::Kind::flag;
    const auto other = helps.find(field.option);
    const std::string help = other == helps.end() ? help_of(field) : other->second;
    options_.emplace_back(field.option, flag ? add_switch(app, field.option, help)
                                             : add_value(app, field.option, field.placeholder, help));
  }
}

const CLI::Option* RunOptions::find(const std::string& name) const {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](const auto& each) { return each.first == name; });
  return found == options_.end() ? nullptr : found->second;
}

std::vector<std::string> RunOptions::given() const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_)
    if (option->count() > 0)
      names.push_back(name);
  return names;
}

void RunOptions::refuse_contradictions() const {
  for (const SpecField& field : run::spec_fields())
    for (const std::string& key : field.alternatives) {
      const SpecField& other = run::spec_field(key);
      if (find(field.option) && find(other.option))
        exclude(find(field.option), find(other.option));
    }
}

void RunOptions::apply(run::RunSpec& spec) const {
  refuse_contradictions();
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> keys;
  for (const SpecField& field : run::spec_fields()) {
    const CLI::Option* given = find(field.option);
    if (!given || given->count() == 0)
      continue;
    const std::string value = field.kind == SpecField::Kind::flag ? "true" : given->results().front();
    refuse_empty(field, value);
    values.emplace_back(field.key, value);
    keys.push_back(field.key);
  }
  run::unset_alternatives(spec, keys);
  for (const auto& [key, value] : values)
    run::set_field(spec, key, value);
}

std::string schedule_help() {
  std::string text = "Schedules:\n";
  for (const std::string& form : schedule::schedule_forms())
    text += "  " + form + '\n';
  return text;
}

std::string read_spec_file(const std::string& file) {
  constexpr std::uint64_t most = 16'000'000;
  return data::read_text_file(file, most);
}

namespace {

template <class Spec>
Spec spec_from_file(const std::string& file, Spec (*parse)(const std::string& text, const Spec& base)) {
  const std::string text = read_spec_file(file);
  if (!trimmed(text).starts_with('{') && parse_json_or_discard(text).is_discarded())
    throw input_error(fmt::format(
        "{}: not a specification in JSON; accepted: such a file, or -- and then a program with its arguments, "
        "such as -- python train.py",
        file));
  try {
    Spec spec = parse(text, {});
    check(spec);
    return spec;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw input_error(what.starts_with(file) ? what : file + ": " + what);
  }
}

} // namespace

run::RunSpec run_spec_from_file(const std::string& file) {
  return spec_from_file(file, run::run_spec_from_json);
}

sweep::SweepSpec sweep_spec_from_file(const std::string& file) {
  return spec_from_file(file, sweep::sweep_spec_from_json);
}

} // namespace batchscope::cli
