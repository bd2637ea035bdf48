#include "core/telemetry/outcome_fields.h"

#include <type_traits>

namespace batchscope::telemetry {

namespace {

template <auto Member>
constexpr OutcomeField number(const char* name, ValueKind kind, const char* short_name = nullptr) {
  using Value = std::remove_cvref_t<decltype(std::declval<RunOutcome&>().*Member)>;
  OutcomeField field{.name = name, .kind = kind, .short_name = short_name};
  if constexpr (requires(Value value) { value.has_value(); }) {
    field.nullable = true;
    field.number = [](const RunOutcome& outcome) -> std::optional<double> {
      const auto& value = outcome.*Member;
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    field.set_number = [](RunOutcome& outcome, std::optional<double> value) {
      (outcome.*Member).reset();
      if (value)
        outcome.*Member = static_cast<typename Value::value_type>(*value);
    };
  } else {
    field.number = [](const RunOutcome& outcome) -> std::optional<double> {
      return static_cast<double>(outcome.*Member);
    };
    field.set_number = [](RunOutcome& outcome, std::optional<double> value) {
      outcome.*Member = static_cast<Value>(value.value_or(0));
    };
  }
  return field;
}

} // namespace

// A new field is a member of RunOutcome, a row here, and a column that a migration of the store adds.
const std::vector<OutcomeField>& outcome_fields() {
  using Kind = ValueKind;
  static const std::vector<OutcomeField> fields = {
      {.name = "status",
       .kind = Kind::text,
       .text = [](const RunOutcome& outcome) { return to_string(outcome.status); },
       .set_text = [](RunOutcome& outcome,
                      const std::string& text) { outcome.status = status_from(text).value_or(RunStatus::failed); }},
      {.name = "reason",
       .kind = Kind::text,
       .text = [](const RunOutcome& outcome) { return outcome.reason; },
       .set_text = [](RunOutcome& outcome, const std::string& text) { outcome.reason = text; }},
      number<&RunOutcome::batch>("batch", Kind::count),
      number<&RunOutcome::steps>("steps", Kind::count),
      number<&RunOutcome::examples_seen>("examples_seen", Kind::count),
      number<&RunOutcome::epoch>("epoch", Kind::amount),
      number<&RunOutcome::train_coverage>("train_coverage", Kind::share),
      number<&RunOutcome::oom_events>("oom_events", Kind::count, "ooms"),
      number<&RunOutcome::loss>("loss", Kind::number),
      number<&RunOutcome::validation_loss>("validation_loss", Kind::number),
      number<&RunOutcome::validation_accuracy>("validation_accuracy", Kind::share, "accuracy"),
      number<&RunOutcome::peak_bytes>("peak_bytes", Kind::bytes, "peak"),
      number<&RunOutcome::seconds>("seconds", Kind::seconds, "time"),
      number<&RunOutcome::examples_per_second>("examples_per_second", Kind::amount),
  };
  return fields;
}

Json json_of(ValueKind kind, std::optional<double> value) {
  if (!value)
    return nullptr;
  const bool whole = kind == ValueKind::count || kind == ValueKind::bytes;
  return whole ? Json(static_cast<std::int64_t>(*value)) : json_number(*value);
}

Json to_json(const RunOutcome& outcome) {
  Json json;
  for (const OutcomeField& field : outcome_fields())
    json[field.name] = field.text ? Json(field.text(outcome)) : json_of(field.kind, field.number(outcome));
  return json;
}

} // namespace batchscope::telemetry
