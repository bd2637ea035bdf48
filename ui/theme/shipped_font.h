#pragma once

#include <QFont>

namespace batchscope::ui {

/// The font that is shipped in resources/fonts, in the size of the given one. All its digits have one width. `system`
/// itself if the font cannot be loaded. UI thread.
QFont shipped_font(const QFont& system);

} // namespace batchscope::ui
