#pragma once

class QWidget;

namespace batchscope::window {

/// Says how long the start took until the window was painted first, counted from the process's beginning.
/// Off unless QT_LOGGING_RULES has batchscope.start=true.
void log_first_paint(QWidget& window);

} // namespace batchscope::window
