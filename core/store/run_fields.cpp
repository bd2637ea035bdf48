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
      {"id", row_number<&RunRow::id>, nullptr},
      {"name", nullptr, row_text<&RunRow::name>},
      {"note", nullptr, row_text<&RunRow::note>},
      {"status", nullptr, text<&RunOutcome::status>},
      {"reason", nullptr, text<&RunOutcome::reason>},
      {"started", nullptr, row_text<&RunRow::started>},
      {"sweep", row_number<&RunRow::sweep>, nullptr},
      {"batch", number<&RunOutcome::batch>, nullptr},
      {"steps", number<&RunOutcome::steps>, nullptr},
      {"examples_seen", number<&RunOutcome::examples_seen>, nullptr},
      {"epoch", number<&RunOutcome::epoch>, nullptr},
      {"train_coverage", number<&RunOutcome::train_coverage>, nullptr},
      {"loss", number<&RunOutcome::loss>, nullptr},
      {"validation_loss", number<&RunOutcome::validation_loss>, nullptr},
      {"validation_accuracy", number<&RunOutcome::validation_accuracy>, nullptr},
      {"peak_bytes", number<&RunOutcome::peak_bytes>, nullptr},
      {"oom_events", number<&RunOutcome::oom_events>, nullptr},
      {"seconds", number<&RunOutcome::seconds>, nullptr},
      {"examples_per_second", number<&RunOutcome::examples_per_second>, nullptr},
  };
  return fields;
}

} // namespace batchscope::store::detail
