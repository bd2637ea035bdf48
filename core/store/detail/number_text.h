#pragma once

#include <string>

namespace batchscope::store::detail {

/// The shortest text that reads back as the same number: integers without exponent; `NaN`, `Infinity`, `-Infinity`.
void append_number(std::string& text, double value);

} // namespace batchscope::store::detail
