#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/mean_text.h"
#include "core/compare/runs.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::compare {

/// A column of a table of runs: a setting, or what they came to.
struct Column {
  std::string key; ///< JSON key
  telemetry::ValueKind kind = telemetry::ValueKind::text;
  std::vector<Json> values; ///< by run; null for none. NaN and infinities are texts
  bool numeric = false;
  bool differs = false; ///< whether the runs have different values
};

/// The settings with these names, such as those in which the runs differ.
std::vector<Column> setting_columns(const std::vector<ComparedRun>& runs, const std::vector<std::string>& keys);
/// Outcomes that at least one run has and that no differing setting shows already: the first batch only where a search
/// chose it.
std::vector<Column> metric_columns(const Comparison& comparison);

/// Value minus that of the baseline, by run; nothing where one of them is not a finite number.
std::vector<std::optional<double>> differences(const Column& column, std::size_t baseline);

/// For display: `batch size`, `learning rate`; a value with its unit (`99.6 MB`, `97.12 %`); `+0.42 points`, `-12.0 %`.
std::string title(const Column& column);
std::string text(const Column& column, std::size_t run);
std::string text_of(const Column& column, double value); ///< of any number in the column's unit
MeanText mean_text(const Column& column, const Summary& summary);
std::string difference_text(const Column& column, std::size_t run, std::size_t baseline);
std::string difference_text(telemetry::ValueKind kind, double value, double baseline);

} // namespace batchscope::compare
