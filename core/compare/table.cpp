#include "core/compare/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace batchscope::compare {

namespace {

using telemetry::DependsOn;
using telemetry::ValueKind;

void finish(Column& column) {
  column.differs = std::any_of(column.values.begin(), column.values.end(),
                               [&](const Json& value) { return value != column.values.front(); });
  column.numeric =
      std::any_of(column.values.begin(), column.values.end(), [](const Json& value) { return value.is_number(); });
}

Json value_of_setting(const ComparedRun& run, const std::string& key) {
  const auto found = run.spec.find(key);
  return found == run.spec.end() ? Json(nullptr) : *found;
}

/// Whether a setting in which the runs differ has this name and these values.
bool is_differing_setting(const Comparison& comparison, const Column& column) {
  const auto& runs = comparison.runs;
  const auto& differing = comparison.settings.differing;
  if (std::find(differing.begin(), differing.end(), column.key) == differing.end())
    return false;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (value_of_setting(runs[i], column.key) != column.values[i])
      return false;
  return true;
}

/// A setting that is counted in bytes by its name, as in a RunSpec.
ValueKind kind_of_setting(const std::string& key) {
  return key == "memory_budget" ? ValueKind::bytes : ValueKind::number;
}

/// Rates are shown as whole numbers.
ValueKind shown_kind(const Column& column) {
  const bool is_rate = column.kind == ValueKind::amount && telemetry::quantity_of(column.key).of == DependsOn::speed;
  return is_rate ? ValueKind::count : column.kind;
}

} // namespace

std::vector<Column> setting_columns(const std::vector<ComparedRun>& runs, const std::vector<std::string>& keys) {
  std::vector<Column> columns;
  for (const std::string& key : keys) {
    Column column{.key = key, .kind = kind_of_setting(key), .values = {}};
    for (const ComparedRun& run : runs)
      column.values.push_back(value_of_setting(run, key));
    finish(column);
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<Column> metric_columns(const Comparison& comparison) {
  std::vector<Column> columns;
  for (const telemetry::OutcomeField& field : telemetry::outcome_fields()) {
    Column column{.key = field.name, .kind = field.kind, .values = {}};
    for (const ComparedRun& run : comparison.runs)
      column.values.push_back(telemetry::json_of(field, run.row.outcome));
    const bool empty = std::all_of(column.values.begin(), column.values.end(),
                                   [](const Json& value) { return value.is_null() || value == ""; });
    finish(column);
    if (!empty && !is_differing_setting(comparison, column))
      columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<std::optional<double>> differences(const Column& column, std::size_t baseline) {
  std::vector<std::optional<double>> differences;
  const Json& base = column.values[baseline];
  for (const Json& value : column.values)
    differences.push_back(
        value.is_number() && base.is_number() ? std::optional(value.get<double>() - base.get<double>()) : std::nullopt);
  return differences;
}

std::string title(const Column& column) {
  if (column.key == "lr")
    return "learning rate";
  if (column.key == "batch" && column.kind != ValueKind::count)
    return "batch size"; // the setting, not the outcome
  if (const auto* field = telemetry::find_outcome_field(column.key); field && field->label)
    return field->label;
  std::string name = column.key;
  if (name.ends_with("_bytes"))
    name.resize(name.size() - 6);
  return setting_name(std::move(name));
}

std::string text(const Column& column, std::size_t run) {
  const Json& value = column.values[run];
  if (value.is_null())
    return "-";
  if (!value.is_number())
    return value.is_string() ? value.get<std::string>() : json_text(value);
  return column.kind == ValueKind::count ? format_count(value.get<std::int64_t>()) // also beyond a double's digits
                                         : text_of(column, value.get<double>());
}

std::string text_of(const Column& column, double value) {
  return value_text(shown_kind(column), value);
}

MeanText mean_text(const Column& column, const Summary& summary) {
  return mean_text(shown_kind(column), summary);
}

std::string difference_text(const Column& column, std::size_t run, std::size_t baseline) {
  const Json& value = column.values[run];
  const Json& base = column.values[baseline];
  return value.is_number() && base.is_number() ? difference_text(column.kind, value.get<double>(), base.get<double>())
                                               : "-";
}

std::string difference_text(ValueKind kind, double value, double baseline) {
  const double difference = value - baseline;
  if (kind == ValueKind::fraction)
    return fmt::format("{:+.2f} points", 100 * difference);
  return baseline == 0 ? fmt::format("{:+.4g}", difference)
                       : fmt::format("{:+.1f} %", 100 * difference / std::abs(baseline));
}

} // namespace batchscope::compare
