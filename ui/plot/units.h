#pragma once

namespace batchscope::ui {

// Factors from stored values to plotted ones.
inline constexpr double to_megabytes = 1e-6; ///< from bytes
inline constexpr double to_percent = 100;    ///< from a fraction, 0..1

} // namespace batchscope::ui
