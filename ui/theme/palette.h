#pragma once

#include <QColor>
#include <QPalette>

#include "ui/theme/theme.h"

// The colours themselves. Text roles keep a contrast of 4.5 or more against card, window and chosen.
namespace batchscope::ui {

QColor color_of(Role role, bool dark);
/// Okabe and Ito's six, any index >= 0: they come again and again.
QColor series_color(int index, bool dark);
/// What Fusion paints with, all roles and groups.
QPalette make_palette(bool dark);

} // namespace batchscope::ui
