#pragma once

#include <functional>

class QWidget;

namespace batchscope::window {

/// Calls `then` after the window was painted for the first time. Logs the time since the process started, if
/// QT_LOGGING_RULES sets batchscope.start=true.
void at_first_paint(QWidget& window, std::function<void()> then);

} // namespace batchscope::window
