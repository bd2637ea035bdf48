#pragma once

#include <QList>

namespace batchscope::ui {

/// A dash pattern for a sample of a line: shortened where the sample would not show it twice. In widths of the pen, as
/// QPen takes it.
QList<qreal> sample_dashes(const QList<qreal>& dashes, double pen_width, double length);

} // namespace batchscope::ui
