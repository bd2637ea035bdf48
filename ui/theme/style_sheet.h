#pragma once

#include <QString>

namespace batchscope::ui {

class Theme;

/// The one style sheet, in the theme's colours of the moment and in sizes of the application's font.
QString style_sheet(const Theme& theme);

} // namespace batchscope::ui
