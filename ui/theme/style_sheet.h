#pragma once

#include <QString>

namespace batchscope::ui {

class Theme;

/// The application's style sheet, with the theme's current colours and sizes relative to the application's font.
QString style_sheet(const Theme& theme);

} // namespace batchscope::ui
