#pragma once

#include <QPolygonF>

#include <vector>

namespace batchscope::ui {

/// The parts of a line that lie in an area: for pictures of lines, where the painter may know no clipping.
std::vector<QPolygonF> clipped(const QPolygonF& line, const QRectF& area);

} // namespace batchscope::ui
