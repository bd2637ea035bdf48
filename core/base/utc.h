#pragma once

#include <string>

// Times as ISO 8601 texts in UTC, with seconds: 2026-01-31T12:00:00Z.
namespace batchscope {

/// Formats a time in seconds since 1970; the start of 1970 for a value that is not finite.
std::string utc_text(double unix_seconds);
std::string utc_now();
/// Seconds since 1970, fractions in the text ignored; 0 for another text.
double unix_seconds(const std::string& utc);

} // namespace batchscope
