#include "core/telemetry/outcome_fields.h"

#include <algorithm>
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

template <auto Member> constexpr OutcomeField number(OutcomeField field) {
  using Given = std::remove_cvref_t<decltype(std::declval<RunOutcome&>().*Member)>;
  field.nullable = Unwrapped<Given>::nullable;
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
template <auto Member> constexpr OutcomeField positive(OutcomeField field) {
  field = number<Member>(field);
  field.nullable = field.zero_is_unknown = true;
  if (field.integer)
    field.integer = known<Member, std::int64_t>;
  else
    field.real = known<Member, double>;
  return field;
}

} // namespace

// A new field is a member of RunOutcome, a row here, and a column that a migration of the store adds; what the window
// and the terminal show of it follows.
const std::vector<OutcomeField>& outcome_fields() {
  using Kind = ValueKind;
  static const std::vector<OutcomeField> fields = {
      // A status that this program does not know reads as failed: the run is over, and nothing says how it went.
      {.name = "status",
       .kind = Kind::text,
       .help = "How the run ended, or its progress",
       .text = [](const RunOutcome& outcome) { return to_string(outcome.status); },
       .set_text = [](RunOutcome& outcome,
                      const std::string& text) { outcome.status = status_from(text).value_or(RunStatus::failed); }},
      {.name = "reason",
       .kind = Kind::text,
       .help = "Why the run has failed",
       .text = [](const RunOutcome& outcome) { return outcome.reason; },
       .set_text = [](RunOutcome& outcome, const std::string& text) { outcome.reason = text; }},
      number<&RunOutcome::batch>({.name = "batch",
                                  .kind = Kind::count,
                                  .better = Better::smaller, // of two sizes that do the same
                                  .label = "first batch",
                                  .column = "Batch",
                                  .help = "First nominal batch size, in examples"}),
      number<&RunOutcome::steps>({.name = "steps",
                                  .kind = Kind::count,
                                  .better = Better::smaller,
                                  .column = "Steps",
                                  .help = "Optimizer steps done"}),
      positive<&RunOutcome::examples_seen>({.name = "examples_seen",
                                            .kind = Kind::count,
                                            .better = Better::smaller,
                                            .help = "Training examples seen in the whole run"}),
      positive<&RunOutcome::epoch>(
          {.name = "epoch", .kind = Kind::amount, .column = "Epoch", .help = "Passes over the training data so far"}),
      positive<&RunOutcome::train_coverage>(
          {.name = "train_coverage", .kind = Kind::fraction, .help = "Fraction of the epoch that was seen"}),
      number<&RunOutcome::oom_events>({.name = "oom_events",
                                       .kind = Kind::count,
                                       .better = Better::smaller,
                                       .of = DependsOn::machine,
                                       .column = "OOMs",
                                       .help = "Out-of-memory errors during the run",
                                       .short_name = "ooms"}),
      number<&RunOutcome::loss>({.name = "loss",
                                 .kind = Kind::number,
                                 .better = Better::smaller,
                                 .column = "Loss",
                                 .help = "Training loss of the last step"}),
      number<&RunOutcome::validation_loss>({.name = "validation_loss",
                                            .kind = Kind::number,
                                            .better = Better::smaller,
                                            .column = "Validation loss",
                                            .help = "Of the last evaluation"}),
      number<&RunOutcome::validation_accuracy>({.name = "validation_accuracy",
                                                .kind = Kind::fraction,
                                                .better = Better::larger,
                                                .column = "Accuracy",
                                                .help = "Validation accuracy of the last evaluation",
                                                .short_name = "accuracy"}),
      positive<&RunOutcome::peak_bytes>({.name = "peak_bytes",
                                         .kind = Kind::bytes,
                                         .better = Better::smaller,
                                         .of = DependsOn::machine,
                                         .label = "peak memory",
                                         .column = "Peak",
                                         .help = "Peak memory in use",
                                         .short_name = "peak"}),
      number<&RunOutcome::seconds>({.name = "seconds",
                                    .kind = Kind::seconds,
                                    .better = Better::smaller,
                                    .of = DependsOn::speed,
                                    .label = "time",
                                    .column = "Time",
                                    .help = "Time since the start of the run; pauses are excluded, evaluations "
                                            "included",
                                    .short_name = "time"}),
      positive<&RunOutcome::examples_per_second>(
          {.name = "examples_per_second",
           .kind = Kind::amount,
           .better = Better::larger,
           .of = DependsOn::speed,
           .label = "examples/s",
           .column = "Examples/s",
           .help = "Examples per second of training; pauses and evaluations are excluded"}),
      number<&RunOutcome::disturbed>({.name = "disturbed",
                                      .kind = Kind::fraction,
                                      .better = Better::smaller,
                                      .of = DependsOn::machine,
                                      .column = "Disturbed",
                                      .help = "Share of the time taken by other programs on this machine, which slowed "
                                              "this run down"}),
  };
  return fields;
}

const OutcomeField* find_outcome_field(std::string_view name) {
  const auto& fields = outcome_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const OutcomeField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

Quantity quantity_of(std::string_view name) {
  if (const OutcomeField* field = find_outcome_field(name))
    return {field->kind, field->better, field->of};
  Quantity quantity;
  if (name.ends_with("_bytes"))
    quantity = {ValueKind::bytes, Better::smaller, DependsOn::machine};
  else if (name.ends_with("_seconds"))
    quantity = {ValueKind::seconds, Better::unknown, DependsOn::speed};
  else if (name.ends_with("_per_second"))
    quantity.of = DependsOn::speed;
  else if (name.ends_with("accuracy"))
    quantity = {name.ends_with("_accuracy") ? ValueKind::fraction : ValueKind::number, Better::larger};
  else if (name.ends_with("loss"))
    quantity.better = Better::smaller;
  else if (name == "workers")
    quantity.of = DependsOn::machine;
  return quantity;
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
