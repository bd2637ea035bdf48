#include "core/store/run_fields.h"

namespace batchscope::store {

namespace {

using telemetry::OutcomeField;
using telemetry::ValueKind;

template <typename Value> std::optional<double> as_number(const Value& value) {
  if constexpr (requires { value.has_value(); })
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  else
    return static_cast<double>(value);
}

RunField of_outcome(const OutcomeField& field) {
  RunField made{.name = field.name, .kind = field.kind};
  if (field.text)
    made.text = [&field](const RunRow& run) { return std::optional(field.text(run.outcome)); };
  else
    made.number = [&field](const RunRow& run) { return field.number(run.outcome); };
  made.short_name = field.short_name ? field.short_name : "";
  return made;
}

RunField text(const char* name, std::string RunRow::*member) {
  return {.name = name, .text = [member](const RunRow& run) { return std::optional(run.*member); }};
}

RunField setting(const char* name, std::optional<std::string> RunSettings::*member) {
  return {.name = name, .text = [member](const RunRow& run) { return run.settings.*member; }};
}

std::vector<RunField> make_fields() {
  std::vector<RunField> fields = {
      {.name = "id", .kind = ValueKind::count, .number = [](const RunRow& run) { return as_number(run.id); }},
      text("name", &RunRow::name),
      text("note", &RunRow::note),
      text("started", &RunRow::started),
      {.name = "sweep", .kind = ValueKind::count, .number = [](const RunRow& run) { return as_number(run.sweep); }},
  };
  for (const OutcomeField& field : telemetry::outcome_fields())
    fields.push_back(of_outcome(field));
  const std::vector<RunField> settings = {
      setting("model", &RunSettings::model),
      setting("data", &RunSettings::data),
      setting("schedule", &RunSettings::schedule),
      setting("optimizer", &RunSettings::optimizer),
      setting("device", &RunSettings::device),
      {.name = "lr",
       .kind = ValueKind::amount,
       .number = [](const RunRow& run) { return as_number(run.settings.learning_rate); }},
      {.name = "seed",
       .kind = ValueKind::count,
       .number = [](const RunRow& run) { return as_number(run.settings.seed); }},
  };
  fields.insert(fields.end(), settings.begin(), settings.end());
  return fields;
}

} // namespace

const std::vector<RunField>& run_fields() {
  static const std::vector<RunField> fields = make_fields();
  return fields;
}

} // namespace batchscope::store
