#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/run_row.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::store {

/// A field of a run by its name in lists and filters: either a number or a text, which a run may lack, or a list of
/// texts. `number` is for comparisons, `json` has the exact value.
struct RunField {
  std::string name;
  telemetry::ValueKind kind = telemetry::ValueKind::text;
  std::function<std::optional<double>(const RunRow&)> number{};    ///< empty for a text
  std::function<std::optional<std::string>(const RunRow&)> text{}; ///< empty for a number
  std::function<std::vector<std::string>(const RunRow&)> texts{};  ///< only of a list of texts
  std::function<Json(const RunRow&)> json{};                       ///< null for none
  std::string help{};                                              ///< a sentence without a full stop
  std::string short_name{};                                        ///< also accepted by filters; empty: none
};

/// See RunReader::table().
struct RunList {
  std::vector<RunField> columns; ///< in the order in which they were asked for
  std::vector<RunRow> rows;
};

/// The row's own fields, its outcome (telemetry::outcome_fields()) and its settings, in the order of a list's columns.
const std::vector<RunField>& run_fields();

} // namespace batchscope::store
