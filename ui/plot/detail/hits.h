#pragma once

#include <optional>

#include "ui/plot/detail/paint.h"

// Finds what is under the pointer.
namespace batchscope::ui {

/// The nearest mark within 8 px, else one whose line through all panels is within 4 px.
const PlotMark* mark_at(const Picture& picture, const QPointF& at);
/// The handle whose square or stretch is at this place.
const PlotHandle* handle_at(const Picture& picture, const QPointF& at);
/// The index of the cursor whose line is within 4 px.
std::optional<std::size_t> cursor_at(const Picture& picture, const QPointF& at);
/// The legend entry at this place.
std::optional<LegendEntry> legend_at(const Picture& picture, const QPointF& at);
/// The tooltip for this place; empty if there is none.
QString tip_at(const Picture& picture, const QPointF& at);

} // namespace batchscope::ui
