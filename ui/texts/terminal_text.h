#pragma once

#include <QStringList>

#include <string>

namespace batchscope::ui {

/// The lines of a program's output as a terminal shows them in the end: without colours, cursor movements and other
/// control characters; of a progress bar, what it wrote last. No empty lines at either end.
QStringList terminal_lines(const QString& output);

/// What the detail of an event `output` has of a program's output; empty if it has nothing.
QString output_in(const std::string& detail_json);

} // namespace batchscope::ui
