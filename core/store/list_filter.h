#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store {

using RunFilter = std::function<bool(const RunRow&)>;

/// Parses the filter of `list --where`: comparisons `FIELD OPERATOR VALUE`, joined by `and` and `or` (`and` binds
/// tighter), with optional parentheses: `batch >= 64 and (status = finished or loss < 0.5)`. Operators: = != < <= > >=.
/// A value is a number (NaN and Infinity included), with a unit if the field has one (`peak > 90MB`, `accuracy > 97%`,
/// `time < 2min`), or a word, or a text in single or double quotes, in which the quote is doubled. A field without a
/// value matches no comparison, and NaN is neither smaller nor greater than anything. An empty text matches every run.
/// Throws Error (input) naming the position (the first character is 1), what was found and what is accepted; also for a
/// comparison that cannot be true for its field: `validation_accuracy > 97`.
RunFilter parse_list_filter(const std::string& text);

/// The fields that a filter may use, in the order of a list's columns.
std::vector<std::string> list_filter_fields();

/// Short names that are accepted, too, for messages: `accuracy for validation_accuracy, ...`.
std::string list_filter_short_names();

} // namespace batchscope::store
