#pragma once

#include <QStringList>

namespace batchscope::ui {

/// The lines of a program's output as a terminal shows them in the end: without colours, cursor movements and other
/// control characters; of a progress bar, what it wrote last. No empty lines at either end.
QStringList terminal_lines(const QString& output);

} // namespace batchscope::ui
