#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/outcome_fields.h"

// Values with which conditions compare fields.
namespace batchscope::filter {

/// Parses a number in the field's unit: `0.97` or `97%` for a fraction, `90000000`, `90MB` or `85.8MiB` for bytes,
/// `90`, `90s`, `1.5min` or `2h` for seconds; NaN and Infinity. Nothing if the text is not a number.
std::optional<double> value_of(telemetry::ValueKind kind, std::string_view text);

/// Description of what value_of() accepts, for error messages: `is compared with a number`.
std::string accepted_values(telemetry::ValueKind kind);

/// Why a comparison is true for no run (or cannot be meant, because of its unit), and what may be meant instead; empty
/// if it is fine. `text` is the bound as the user wrote it.
std::string never_holds(telemetry::ValueKind kind, const std::string& operation, double bound, const std::string& text);

} // namespace batchscope::filter
