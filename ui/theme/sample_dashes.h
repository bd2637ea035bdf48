#pragma once

#include <QList>

namespace batchscope::ui {

/// A dash pattern for a line sample, shortened if the sample would not show it twice. In units of the pen's width, as
/// for QPen.
QList<qreal> sample_dashes(const QList<qreal>& dashes, double pen_width, double length);

} // namespace batchscope::ui
