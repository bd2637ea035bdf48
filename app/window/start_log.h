#pragma once

#include <functional>

class QWidget;

namespace batchscope::window {

/// Calls `then` once the window was painted first. Says how long the start took until then, counted from the process's
/// beginning, where QT_LOGGING_RULES has batchscope.start=true.
void at_first_paint(QWidget& window, std::function<void()> then);

} // namespace batchscope::window
