#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store {

using RunFilter = std::function<bool(const RunRow&)>;

/// What `list --where` means: comparisons `FIELD OPERATOR VALUE`, joined by `and` and `or` (`and` binds tighter), with
/// parentheses where needed: `batch >= 64 and (status = finished or loss < 0.5)`.
/// Operators: = != < <= > >=. A value is a number (NaN and Infinity included), with a unit where the field has one
/// (`peak > 90MB`, `accuracy > 97%`, `time < 2min`), or a word or text in single or double quotes, in which the quote
/// is written twice. A field that a run does not know matches no comparison, and NaN is
/// neither smaller nor greater than anything. Empty text: every run.
/// Throws Error (input) naming the position (the first character is 1), what was found and what is accepted; also for a
/// comparison that holds for no run by what the field is: `validation_accuracy > 97`.
RunFilter parse_list_filter(const std::string& text);

/// The fields that comparisons know, in the order of a list's columns.
std::vector<std::string> list_filter_fields();

/// `accuracy for validation_accuracy, ...`: names that are accepted, too.
std::string list_filter_short_names();

} // namespace batchscope::store
