#pragma once

#include <optional>

#include "ui/plot/detail/paint.h"

// What is under the pointer.
namespace batchscope::ui {

/// The nearest mark within 8 px, else one whose line through all panels is within 4.
const PlotMark* mark_at(const Picture& picture, const QPointF& at);
/// The handle whose square or stretch is under the pointer.
const PlotHandle* handle_at(const Picture& picture, const QPointF& at);
/// The number of the cursor whose line is within 4 px.
std::optional<std::size_t> cursor_at(const Picture& picture, const QPointF& at);
/// The entry of a legend that is under the pointer.
std::optional<LegendEntry> legend_at(const Picture& picture, const QPointF& at);
/// What is to be said of what is there; empty: nothing is.
QString tip_at(const Picture& picture, const QPointF& at);

} // namespace batchscope::ui
