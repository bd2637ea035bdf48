#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/filter/condition.h"
#include "core/store/run_row.h"

namespace batchscope::store {

using RunFilter = std::function<bool(const RunRow&)>;

/// Parses the filter of `list --where`: filter::parse_condition() over run_fields(). An empty text matches every run.
/// Throws Error (input) as that does.
RunFilter parse_list_filter(const std::string& text);
/// With further fields; their indices are those of RunRow::more.
RunFilter parse_list_filter(const std::string& text, const filter::MoreFields& more);

/// The fields that a filter may use, in the order of a list's columns.
std::vector<std::string> list_filter_fields();

/// Short names that are accepted, too, for messages: `accuracy for validation_accuracy, ...`.
std::string list_filter_short_names();

} // namespace batchscope::store
