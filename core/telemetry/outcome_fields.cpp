#include "core/telemetry/outcome_fields.h"

#include <array>
#include <type_traits>
#include <utility>

#include "core/base/error.h"

namespace batchscope::telemetry {

namespace {

template <typename Value> struct Unwrapped {
  using type = Value;
  static constexpr bool nullable = false;
};
template <typename Value> struct Unwrapped<std::optional<Value>> {
  using type = Value;
  static constexpr bool nullable = true;
};

/// As<Value>, for a member that is a Value, another number or an optional one.
template <auto Member, typename As> std::optional<As> get(const RunOutcome& outcome) {
  const auto& value = outcome.*Member;
  if constexpr (Unwrapped<std::remove_cvref_t<decltype(value)>>::nullable)
    return value ? std::optional(static_cast<As>(*value)) : std::nullopt;
  else
    return static_cast<As>(value);
}

/// The same for a member whose 0 says that it is not known.
template <auto Member, typename As> std::optional<As> known(const RunOutcome& outcome) {
  return outcome.*Member == 0 ? std::nullopt : std::optional(static_cast<As>(outcome.*Member));
}

template <auto Member, typename As> void set(RunOutcome& outcome, std::optional<As> value) {
  auto& member = outcome.*Member;
  using Given = std::remove_cvref_t<decltype(member)>;
  if constexpr (Unwrapped<Given>::nullable)
    member = value ? Given(static_cast<typename Unwrapped<Given>::type>(*value)) : Given();
  else
    member = static_cast<Given>(value.value_or(As{}));
}

template <auto Member>
constexpr OutcomeField number(const char* name, ValueKind kind, const char* short_name = nullptr) {
  using Given = std::remove_cvref_t<decltype(std::declval<RunOutcome&>().*Member)>;
  OutcomeField field{.name = name, .kind = kind, .short_name = short_name, .nullable = Unwrapped<Given>::nullable};
  if constexpr (std::is_integral_v<typename Unwrapped<Given>::type>) {
    field.integer = get<Member, std::int64_t>;
    field.set_integer = set<Member, std::int64_t>;
  } else {
    field.real = get<Member, double>;
    field.set_real = set<Member, double>;
  }
  return field;
}

/// A number of which 0 says that it is not known.
template <auto Member>
constexpr OutcomeField positive(const char* name, ValueKind kind, const char* short_name = nullptr) {
  OutcomeField field = number<Member>(name, kind, short_name);
  field.nullable = field.zero_is_unknown = true;
  if (field.integer)
    field.integer = known<Member, std::int64_t>;
  else
    field.real = known<Member, double>;
  return field;
}

} // namespace

// A new field is a member of RunOutcome, a row here, and a column that a migration of the store adds.
const std::vector<OutcomeField>& outcome_fields() {
  using Kind = ValueKind;
  static const std::vector<OutcomeField> fields = {
      // A status that this program does not know reads as failed: the run is over, and nothing says how it went.
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
      positive<&RunOutcome::examples_seen>("examples_seen", Kind::count),
      positive<&RunOutcome::epoch>("epoch", Kind::amount),
      positive<&RunOutcome::train_coverage>("train_coverage", Kind::fraction),
      number<&RunOutcome::oom_events>("oom_events", Kind::count, "ooms"),
      number<&RunOutcome::loss>("loss", Kind::number),
      number<&RunOutcome::validation_loss>("validation_loss", Kind::number),
      number<&RunOutcome::validation_accuracy>("validation_accuracy", Kind::fraction, "accuracy"),
      positive<&RunOutcome::peak_bytes>("peak_bytes", Kind::bytes, "peak"),
      number<&RunOutcome::seconds>("seconds", Kind::seconds, "time"),
      positive<&RunOutcome::examples_per_second>("examples_per_second", Kind::amount),
      number<&RunOutcome::disturbed>("disturbed", Kind::fraction),
  };
  return fields;
}

std::optional<double> number_of(const OutcomeField& field, const RunOutcome& outcome) {
  if (field.real)
    return field.real(outcome);
  const auto value = field.integer ? field.integer(outcome) : std::nullopt;
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

Json json_of(const OutcomeField& field, const RunOutcome& outcome) {
  if (field.text)
    return field.text(outcome);
  if (field.integer) {
    const auto value = field.integer(outcome);
    return value ? Json(*value) : Json(nullptr);
  }
  const auto value = field.real(outcome);
  return value ? json_number(*value) : Json(nullptr);
}

namespace {

void set_from(const OutcomeField& field, const Json& value, RunOutcome& outcome) {
  if (field.text && value.is_null())
    return;
  if (field.text)
    field.set_text(outcome, value.get<std::string>());
  else if (field.integer)
    field.set_integer(outcome, value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>()));
  else
    field.set_real(outcome, value.is_null() ? std::nullopt : std::optional(number_from_json(value)));
}

constexpr std::array<std::pair<const char*, double RunClock::State::*>, 6> clock_times = {
    {{"seconds", &RunClock::State::seconds},
     {"at_step", &RunClock::State::at_step},
     {"evaluated_before", &RunClock::State::evaluated_before},
     {"evaluated_since", &RunClock::State::evaluated_since},
     {"watched", &RunClock::State::watched},
     {"lost", &RunClock::State::lost}}};

} // namespace

Json to_json(const RunOutcome& outcome) {
  Json json;
  for (const OutcomeField& field : outcome_fields())
    json[field.name] = json_of(field, outcome);
  return json;
}

Json to_json(const RunProgress& progress) {
  const RunClock::State& clock = progress.clock().state();
  Json times{{"step", clock.step}, {"examples", clock.examples}};
  for (const auto& [name, member] : clock_times)
    times[name] = json_number(clock.*member);
  return {{"outcome", to_json(progress.outcome())}, {"clock", times}};
}

/// A field that earlier versions did not have is not known.
RunProgress run_progress_from_json(const Json& json) {
  const Json nothing = Json::object();
  const auto part = [&](const char* name) -> const Json& {
    const auto found = json.find(name);
    return found == json.end() ? nothing : *found;
  };
  if (!part("outcome").is_object() || part("outcome").empty() || !part("clock").is_object())
    throw input_error("the progress of a run cannot be read: it has no outcome");
  try {
    RunOutcome outcome;
    for (const OutcomeField& field : outcome_fields())
      if (const auto found = part("outcome").find(field.name); found != part("outcome").end())
        set_from(field, *found, outcome);
    const Json& times = part("clock");
    RunClock::State clock;
    read_member(times, "step", clock.step);
    read_member(times, "examples", clock.examples);
    for (const auto& [name, member] : clock_times)
      read_member(times, name, clock.*member);
    return RunProgress(std::move(outcome), RunClock(clock));
  } catch (const Json::exception& error) {
    throw input_error(std::string("the progress of a run cannot be read: ") + error.what());
  }
}

} // namespace batchscope::telemetry
