#pragma once

#include <QString>

namespace batchscope::window {

/// Why no window can be opened here; empty if one can. Call it before creating QApplication, which would abort.
QString missing_display();

} // namespace batchscope::window
