#include "core/sweep/settings_key.h"

#include <map>

#include "core/base/json.h"
#include "core/run/spec_fields.h"
#include "core/store/run_reader.h"

namespace batchscope::sweep {

namespace {

using Settings = std::map<std::string, Json>;

/// Whether the field shows something else than if it were left out.
bool is_set(const run::RunSpec& spec, const std::string& field) {
  static const run::RunSpec standard;
  if (run::field_text(spec, field) == run::field_text(standard, field))
    return false;
  run::RunSpec without = spec;
  run::set_field(without, field, {});
  return run::field_shown(spec, field) != run::field_shown(without, field);
}

void add_program(const run::ProgramSpec& program, Settings& settings) {
  static const Json standard = run::to_json(run::ProgramSpec{});
  const Json given = run::to_json(program);
  Settings own;
  for (const auto& [name, value] : given.items())
    if (!standard.contains(name) || standard[name] != value)
      own[name] = value;
  settings["program"] = own;
}

} // namespace

std::string settings_key(const run::RunSpec& spec) {
  Settings settings;
  for (const run::SpecField& field : run::spec_fields())
    if (field.key != "name" && is_set(spec, field.key))
      settings[field.key] = run::field_shown(spec, field.key);
  if (spec.program)
    add_program(*spec.program, settings);
  const Json later = parse_json_or_discard(spec.later_json);
  if (later.is_object())
    for (const auto& [name, value] : later.items())
      settings[name] = value;
  return json_text(settings);
}

std::optional<std::string> settings_key_of(const std::string& spec_json) {
  const auto spec = run::stored_spec(spec_json);
  return spec ? std::optional(settings_key(*spec)) : std::nullopt;
}

std::string settings_key_of(const store::RunReader& reader, std::int64_t run) {
  std::string stored = reader.settings_key(run);
  return stored.empty() ? settings_key_of(reader.spec_json(run)).value_or(std::string()) : stored;
}

} // namespace batchscope::sweep
