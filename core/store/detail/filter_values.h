#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/store/detail/run_fields.h"

// What a field of a run may be compared with in `list --where`.
namespace batchscope::store::detail {

/// A number in the field's own unit: `0.97` or `97%` for a share, `90000000`, `90MB` or `85.8MiB` for bytes, `90`,
/// `90s`, `1.5min` or `2h` for seconds; NaN and Infinity. Nothing where the text is none.
std::optional<double> value_of(FieldKind kind, std::string_view text);

/// `is compared with a number`: what value_of() takes.
std::string accepted_values(FieldKind kind);

/// What is wrong with a comparison that holds for no run (or, by its unit, cannot be meant), and what may be meant
/// instead; empty where nothing is. `text` is the bound as it was written.
std::string never_holds(FieldKind kind, const std::string& operation, double bound, const std::string& text);

} // namespace batchscope::store::detail
