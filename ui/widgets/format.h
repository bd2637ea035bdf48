#pragma once

#include <QString>

#include <cstdint>
#include <optional>

// Numbers for display in the user's locale: with thousands separators and only significant digits.
namespace batchscope::ui {

QString format_count(std::int64_t count); ///< 1,234
QString format_bytes(double bytes);       ///< 366.2 MB (decimal units)
QString format_megabytes(double bytes);                    ///< 344.3, 0.05: if the unit is shown elsewhere
QString format_duration(double seconds);                   ///< 5 ms, 12.3 s, from 20 s on 0:41, 1:02:03
QString format_clock(double seconds);                      ///< 0:05, 0:41, 1:02:03: of a time that runs
QString format_number(double value, int digits = 4);       ///< significant digits; NaN and infinities as such
QString format_percent(double fraction, int decimals = 2); ///< 47.21 %
/// A batch as it is split: 272, or 2 x 136.
QString format_parts(std::int64_t parts, std::int64_t size);

} // namespace batchscope::ui
