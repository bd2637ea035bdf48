#pragma once

#include <QList>

namespace batchscope::ui {

/// Colour and dashes of runs that are drawn together, as indices for Theme::series() and Theme::dashes(). A run's look
/// follows from its number, so it is the same on every page and at the next start. Only if two of these runs would look
/// the same, the later one takes the next free look.
QList<int> run_looks(const QList<qint64>& runs);

} // namespace batchscope::ui
