#include "core/store/run_fields.h"

#include <type_traits>

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

template <typename Value> Json as_json(const Value& value) {
  if constexpr (requires { value.has_value(); })
    return value ? as_json(*value) : Json(nullptr);
  else if constexpr (std::is_same_v<Value, double>)
    return json_number(value);
  else
    return value;
}

RunField of_outcome(const OutcomeField& field) {
  RunField made{.name = field.name, .kind = field.kind};
  if (field.text)
    made.text = [&field](const RunRow& run) { return std::optional(field.text(run.outcome)); };
  else
    made.number = [&field](const RunRow& run) { return telemetry::number_of(field, run.outcome); };
  made.json = [&field](const RunRow& run) { return telemetry::json_of(field, run.outcome); };
  made.short_name = field.short_name ? field.short_name : "";
  return made;
}

template <typename Get> RunField text(const char* name, Get get) {
  return {.name = name,
          .text = [get](const RunRow& run) { return std::optional<std::string>(get(run)); },
          .json = [get](const RunRow& run) { return as_json(get(run)); }};
}

template <typename Get> RunField number(const char* name, ValueKind kind, Get get) {
  return {.name = name,
          .kind = kind,
          .number = [get](const RunRow& run) { return as_number(get(run)); },
          .json = [get](const RunRow& run) { return as_json(get(run)); }};
}

std::vector<RunField> make_fields() {
  std::vector<RunField> fields = {
      number("id", ValueKind::count, [](const RunRow& run) { return run.id; }),
      text("name", [](const RunRow& run) { return run.name; }),
      text("note", [](const RunRow& run) { return run.note; }),
      {.name = "tags",
       .texts = [](const RunRow& run) { return run.tags; },
       .json = [](const RunRow& run) { return Json(run.tags); },
       .short_name = "tag"},
      text("started", [](const RunRow& run) { return run.started; }),
      number("sweep", ValueKind::count, [](const RunRow& run) { return run.sweep; }),
      number("workers", ValueKind::count, [](const RunRow& run) { return run.workers; }),
  };
  for (const OutcomeField& field : telemetry::outcome_fields())
    fields.push_back(of_outcome(field));
  const std::vector<RunField> settings = {
      text("model", [](const RunRow& run) { return run.settings.model; }),
      text("data", [](const RunRow& run) { return run.settings.data; }),
      text("schedule", [](const RunRow& run) { return run.settings.schedule; }),
      text("optimizer", [](const RunRow& run) { return run.settings.optimizer; }),
      text("device", [](const RunRow& run) { return run.settings.device; }),
      number("lr", ValueKind::amount, [](const RunRow& run) { return run.settings.learning_rate; }),
      number("seed", ValueKind::count, [](const RunRow& run) { return run.settings.seed; }),
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
