#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/outcome.h"

namespace batchscope::telemetry {

/// Type of a field's values, which decides how they are shown and what they may be compared with.
enum class ValueKind {
  text,
  number,  ///< any
  count,   ///< whole, 0 or more
  amount,  ///< 0 or more
  share,   ///< from 0 to 1
  bytes,   ///< whole, 0 or more
  seconds, ///< 0 or more
};

/// One member of a RunOutcome: a row of the table from which the database's columns, lists, filters and files follow.
/// Either a number or a text.
struct OutcomeField {
  const char* name; ///< in files, lists and the database
  ValueKind kind;
  const char* short_name = nullptr; ///< also accepted by filters; null: none
  bool nullable = false;            ///< whether a run may have no value
  std::optional<double> (*number)(const RunOutcome&) = nullptr;
  void (*set_number)(RunOutcome&, std::optional<double>) = nullptr;
  std::string (*text)(const RunOutcome&) = nullptr;
  void (*set_text)(RunOutcome&, const std::string&) = nullptr;
};

/// In the order of RunOutcome's members.
const std::vector<OutcomeField>& outcome_fields();

/// A number as JSON: integers without a fraction, NaN and infinities as texts, null for none.
Json json_of(ValueKind kind, std::optional<double> value);
/// All fields by name.
Json to_json(const RunOutcome& outcome);

} // namespace batchscope::telemetry
