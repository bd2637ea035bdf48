#include <algorithm>
#include <ostream>

#include "core/compare/runs.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/export.h"
#include "core/store/run_fields.h"
#include "core/store/run_reader.h"

namespace batchscope::exchange {

namespace {

/// A JSON value as a cell: numbers in their shortest exact form, nothing for null.
std::string cell(const Json& value) {
  if (value.is_null())
    return {};
  if (value.is_string())
    return detail::csv_cell(value.get<std::string>());
  if (!value.is_number_float())
    return detail::csv_cell(json_text(value));
  std::string text;
  detail::append_number(text, value.get<double>());
  return text;
}

/// Names of all settings of the runs, in the order in which they come up.
std::vector<std::string> setting_keys(const std::vector<compare::ComparedRun>& runs) {
  std::vector<std::string> keys;
  for (const compare::ComparedRun& run : runs)
    for (const auto& [key, value] : run.spec.items())
      if (key != "version" && key != "name" && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
  return keys;
}

/// Columns of run_fields(), apart from the copies of settings at its end.
std::vector<store::RunField> columns_beside(const std::vector<std::string>& settings) {
  std::vector<store::RunField> fields;
  for (const store::RunField& field : store::run_fields()) {
    const bool is_outcome = std::any_of(telemetry::outcome_fields().begin(), telemetry::outcome_fields().end(),
                                        [&](const telemetry::OutcomeField& own) { return own.name == field.name; });
    if (is_outcome || std::find(settings.begin(), settings.end(), field.name) == settings.end())
      fields.push_back(field);
  }
  return fields;
}

class SummaryExporter final : public Exporter {
public:
  std::string name() const override { return "summary"; }
  std::string title() const override { return "CSV, a row per run"; }
  std::string extension() const override { return "csv"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    const auto runs = compare::read_runs(reader, ids);
    const auto settings = setting_keys(runs);
    const auto fields = columns_beside(settings);
    const char* separator = "";
    for (const store::RunField& field : fields) {
      out << separator << (field.name == "id" ? "run" : field.name);
      separator = ",";
    }
    for (const std::string& setting : settings)
      out << ",setting." << detail::csv_cell(setting == "memory_budget" ? "memory_budget_bytes" : setting);
    out << '\n';
    for (const compare::ComparedRun& run : runs) {
      separator = "";
      for (const store::RunField& field : fields) {
        out << separator << cell(field.json(run.row));
        separator = ",";
      }
      for (const std::string& setting : settings) {
        const auto found = run.spec.find(setting);
        out << ',' << (found == run.spec.end() ? std::string() : cell(*found));
      }
      out << '\n';
    }
  }
};

} // namespace

std::unique_ptr<Exporter> summary_exporter();
/// One row per run: name, outcome and settings. Bytes and seconds are so named; accuracy and coverage are fractions.
std::unique_ptr<Exporter> summary_exporter() {
  return std::make_unique<SummaryExporter>();
}

} // namespace batchscope::exchange
