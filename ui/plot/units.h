#pragma once

namespace batchscope::ui {

// What plots show of a stored number.
inline constexpr double to_megabytes = 1e-6; ///< of bytes
inline constexpr double to_percent = 100;    ///< of a share, 0..1

} // namespace batchscope::ui
