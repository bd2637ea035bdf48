#include "core/store/detail/run_fields.h"

namespace batchscope::store::detail {

namespace {

template <auto Member> std::optional<double> row_number(const RunRow& run) {
  const auto& value = run.*Member;
  if constexpr (requires { value.has_value(); })
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  else
    return static_cast<double>(value);
}

template <auto Member> std::optional<double> number(const RunRow& run) {
  const auto& value = run.outcome.*Member;
  if constexpr (requires { value.has_value(); })
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  else
    return static_cast<double>(value);
}

template <auto Member> std::string row_text(const RunRow& run) {
  return run.*Member;
}

template <auto Member> std::string text(const RunRow& run) {
  return run.outcome.*Member;
}

} // namespace

const std::vector<RunField>& run_fields() {
  static const std::vector<RunField> fields = {
      {"id", FieldKind::count, row_number<&RunRow::id>, nullptr},
      {"name", FieldKind::text, nullptr, row_text<&RunRow::name>},
      {"note", FieldKind::text, nullptr, row_text<&RunRow::note>},
      {"status", FieldKind::text, nullptr, text<&RunOutcome::status>},
      {"reason", FieldKind::text, nullptr, text<&RunOutcome::reason>},
      {"started", FieldKind::text, nullptr, row_text<&RunRow::started>},
      {"sweep", FieldKind::count, row_number<&RunRow::sweep>, nullptr},
      {"batch", FieldKind::count, number<&RunOutcome::batch>, nullptr},
      {"steps", FieldKind::count, number<&RunOutcome::steps>, nullptr},
      {"examples_seen", FieldKind::count, number<&RunOutcome::examples_seen>, nullptr},
      {"epoch", FieldKind::amount, number<&RunOutcome::epoch>, nullptr},
      {"train_coverage", FieldKind::share, number<&RunOutcome::train_coverage>, nullptr},
      {"loss", FieldKind::number, number<&RunOutcome::loss>, nullptr},
      {"validation_loss", FieldKind::number, number<&RunOutcome::validation_loss>, nullptr},
      {"validation_accuracy", FieldKind::share, number<&RunOutcome::validation_accuracy>, nullptr, "accuracy"},
      {"peak_bytes", FieldKind::bytes, number<&RunOutcome::peak_bytes>, nullptr, "peak"},
      {"oom_events", FieldKind::count, number<&RunOutcome::oom_events>, nullptr, "ooms"},
      {"seconds", FieldKind::seconds, number<&RunOutcome::seconds>, nullptr, "time"},
      {"examples_per_second", FieldKind::amount, number<&RunOutcome::examples_per_second>, nullptr},
  };
  return fields;
}

} // namespace batchscope::store::detail
