#pragma once

#include <QPolygonF>

#include <vector>

namespace batchscope::ui {

/// The parts of a line inside an area, for pictures of lines whose painter may not support clipping.
std::vector<QPolygonF> clipped(const QPolygonF& line, const QRectF& area);

} // namespace batchscope::ui
