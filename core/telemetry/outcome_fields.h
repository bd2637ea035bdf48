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
  number,   ///< any
  count,    ///< whole, 0 or more
  amount,   ///< 0 or more
  fraction, ///< from 0 to 1
  bytes,    ///< whole, 0 or more
  seconds,  ///< 0 or more
};

/// One member of a RunOutcome: a row of the table from which the database's columns, lists, filters and files follow.
/// Either a text, a real number or an integer.
struct OutcomeField {
  const char* name; ///< in files, lists and the database
  ValueKind kind;
  const char* short_name = nullptr; ///< also accepted by filters; null: none
  bool nullable = false;            ///< whether a run may have no value
  bool zero_is_unknown = false;     ///< a run without a value has 0, in its RunOutcome and in the database
  std::optional<double> (*real)(const RunOutcome&) = nullptr;
  void (*set_real)(RunOutcome&, std::optional<double>) = nullptr;
  std::optional<std::int64_t> (*integer)(const RunOutcome&) = nullptr; ///< count and bytes
  void (*set_integer)(RunOutcome&, std::optional<std::int64_t>) = nullptr;
  std::string (*text)(const RunOutcome&) = nullptr;
  void (*set_text)(RunOutcome&, const std::string&) = nullptr;
};

/// In the order of RunOutcome's members.
const std::vector<OutcomeField>& outcome_fields();

/// The value of a number for comparisons: integers above 2^53 are rounded.
std::optional<double> number_of(const OutcomeField& field, const RunOutcome& outcome);
/// The value as JSON: NaN and infinities as texts, null for none.
Json json_of(const OutcomeField& field, const RunOutcome& outcome);
/// All fields by name.
Json to_json(const RunOutcome& outcome);

/// With its clock, so that a run that is resumed goes on counting where it was. Reading takes what earlier and later
/// versions wrote: a field that is missing is not known, one that is not known is ignored. Throws Error (input) for
/// JSON of another form.
Json to_json(const RunProgress& progress);
RunProgress run_progress_from_json(const Json& json);

} // namespace batchscope::telemetry
