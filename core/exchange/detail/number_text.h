#pragma once

#include <string>

namespace batchscope::exchange::detail {

/// The shortest text that reads back as the same number: integers without exponent; `NaN`, `Infinity`, `-Infinity`.
void append_number(std::string& text, double value);

/// The text as a cell of a CSV: in quotes if it needs them (RFC 4180).
std::string csv_cell(const std::string& text);

} // namespace batchscope::exchange::detail
