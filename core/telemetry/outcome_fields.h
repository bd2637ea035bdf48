#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// Which of two values is the better one.
enum class Better { unknown, smaller, larger };

/// Circumstances on which a value depends.
enum class DependsOn {
  learning, ///< a score, a loss, steps: training with one seed comes to the same value again
  speed,    ///< a time or a rate, which other work on the machine makes worse
  machine,  ///< memory, say
};

/// One member of a RunOutcome: a row of the table from which the database's columns, lists, filters, files, tables and
/// comparisons follow. Either a text, a real number or an integer.
struct OutcomeField {
  const char* name; ///< in files, lists and the database
  ValueKind kind;
  Better better = Better::unknown;
  DependsOn of = DependsOn::learning;
  const char* label = nullptr;      ///< in sentences and tables: `peak memory`; null: the name with spaces
  const char* column = nullptr;     ///< over a narrow column, without the unit: `Peak`; null: it is in none
  const char* help = nullptr;       ///< a sentence without a full stop
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

/// Null if there is none of this name.
const OutcomeField* find_outcome_field(std::string_view name);

/// Properties of a value that follow from its name: for a result from its field, for a series from its ending.
struct Quantity {
  ValueKind kind = ValueKind::number;
  Better better = Better::unknown;
  DependsOn of = DependsOn::learning;
};
Quantity quantity_of(std::string_view name);

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
