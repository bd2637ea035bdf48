#pragma once

#include <QString>

namespace batchscope::window {

/// Why no window can be opened here; empty where one can. Asked before QApplication, which would abort instead.
QString missing_display();

} // namespace batchscope::window
