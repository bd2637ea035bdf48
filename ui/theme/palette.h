#pragma once

#include <QColor>
#include <QPalette>

#include "ui/theme/theme.h"

// The colours. Text roles have a contrast of at least 4.5 against card, window and chosen.
namespace batchscope::ui {

QColor color_of(Role role, bool dark);
/// The six colours of Okabe and Ito, repeated; any index >= 0.
QColor series_color(int index, bool dark);
/// The palette for the Fusion style, with all roles and groups.
QPalette make_palette(bool dark);

} // namespace batchscope::ui
