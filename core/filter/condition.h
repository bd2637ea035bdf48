#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/telemetry/outcome_fields.h"

// The language of `list --where`, of the window's filters and of a sweep's conditions.
namespace batchscope::filter {

/// A field that a condition may compare.
struct Field {
  std::string name;
  telemetry::ValueKind kind = telemetry::ValueKind::text; ///< unit of a number
  bool is_text = false;
  bool is_list = false;             ///< of texts, see Values::texts()
  std::string short_name;           ///< also accepted; empty: none
  std::vector<std::string> choices; ///< of a text: all that it can be; empty: anything
};

/// Fields that are looked up when a condition uses them. Each holds a number or a text: a condition compares it with
/// what it was given, and a value of the other type is only unequal.
struct MoreFields {
  /// Index of the field for Values; nothing if there is none of this name. None: there are no such fields.
  std::function<std::optional<std::size_t>(const std::string& name)> find{};
  std::function<std::string()> accepted{}; ///< for the message about an unknown name, after those of the other fields
};

/// The values of one row, by the index of their field; nothing where the row has none.
class Values {
public:
  virtual ~Values() = default;
  virtual std::optional<double> number(std::size_t field) const = 0;
  virtual std::optional<std::string> text(std::size_t field) const = 0;
  virtual std::vector<std::string> texts(std::size_t /*field*/) const { return {}; } ///< of a list
};

using Condition = std::function<bool(const Values&)>;

/// Parses comparisons `FIELD OPERATOR VALUE`, joined by `and` and `or` (`and` binds tighter), with optional
/// parentheses: `batch >= 64 and (status = finished or loss < 0.5)`. Operators: = != < <= > >=. A value is a number
/// (NaN and Infinity included), with a unit if the field has one (`peak > 90MB`, `accuracy > 97%`, `time < 2min`), or a
/// word, or a text in single or double quotes, in which the quote is doubled. A field without a value matches no
/// comparison, and NaN is neither smaller nor greater than anything. A list matches if any of its texts does; for != if
/// none is equal. An empty text holds for every row. Throws Error
/// (input) naming `option`, the position (the first character is 1), what was found and what is accepted; also for a
/// comparison that cannot be true for its field: `validation_accuracy > 97`.
Condition parse_condition(const std::string& text, const std::vector<Field>& fields, const std::string& option,
                          const MoreFields& more = {});

} // namespace batchscope::filter
