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
  made.help = field.help ? field.help : "";
  made.short_name = field.short_name ? field.short_name : "";
  return made;
}

template <typename Get> RunField text(const char* name, const char* help, Get get) {
  return {.name = name,
          .text = [get](const RunRow& run) { return std::optional<std::string>(get(run)); },
          .json = [get](const RunRow& run) { return as_json(get(run)); },
          .help = help};
}

template <typename Get> RunField number(const char* name, const char* help, ValueKind kind, Get get) {
  return {.name = name,
          .kind = kind,
          .number = [get](const RunRow& run) { return as_number(get(run)); },
          .json = [get](const RunRow& run) { return as_json(get(run)); },
          .help = help};
}

std::vector<RunField> make_fields() {
  std::vector<RunField> fields = {
      number("id", "Number of the run, for the command line", ValueKind::count,
             [](const RunRow& run) { return run.id; }),
      text("name", "Name of the run", [](const RunRow& run) { return run.name; }),
      text("note", "Your own note", [](const RunRow& run) { return run.note; }),
      {.name = "tags",
       .texts = [](const RunRow& run) { return run.tags; },
       .json = [](const RunRow& run) { return Json(run.tags); },
       .help = "Your own tags",
       .short_name = "tag"},
      text("started", "Start time, UTC", [](const RunRow& run) { return run.started; }),
      number("sweep", "Number of the sweep that the run belongs to", ValueKind::count,
             [](const RunRow& run) { return run.sweep; }),
      number("workers", "Most runs of its sweep that trained at one time", ValueKind::count,
             [](const RunRow& run) { return run.workers; }),
  };
  for (const OutcomeField& field : telemetry::outcome_fields())
    fields.push_back(of_outcome(field));
  const std::vector<RunField> settings = {
      text("model", "Model and its sizes, or the command of your own program",
           [](const RunRow& run) { return run.settings.model; }),
      text("data", "Training data", [](const RunRow& run) { return run.settings.data; }),
      text("schedule", "Schedule of the batch size at the start of the run",
           [](const RunRow& run) { return run.settings.schedule; }),
      text("optimizer", "Optimizer that updated the weights", [](const RunRow& run) { return run.settings.optimizer; }),
      text("device", "Device that the run trained on", [](const RunRow& run) { return run.settings.device; }),
      number("lr", "Learning rate at the reference batch size", ValueKind::amount,
             [](const RunRow& run) { return run.settings.learning_rate; }),
      number("seed", "Random seed", ValueKind::count, [](const RunRow& run) { return run.settings.seed; }),
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
