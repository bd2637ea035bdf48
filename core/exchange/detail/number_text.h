#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"

namespace batchscope::exchange::detail {

/// The shortest text that reads back as the same number: integers without exponent; `NaN`, `Infinity`, `-Infinity`.
void append_number(std::string& text, double value);

/// The same number as an integer, if it is one that a double tells from its neighbours.
std::optional<std::int64_t> whole_number(double value);
/// The same of a JSON number; nothing for any other value.
std::optional<std::int64_t> whole_number(const Json& value);
/// An integer where the number is whole, else as json_number() has it.
Json json_of_number(double value);

/// The text as a cell of a CSV: in quotes if it needs them (RFC 4180).
std::string csv_cell(const std::string& text);

} // namespace batchscope::exchange::detail
