#pragma once

#include <QList>

namespace batchscope::ui {

/// The colour and dashes of runs that are drawn together, as indices for Theme::series() and Theme::dashes(). A run's
/// follow from its number, so that it keeps them on every page, beside whatever runs, and at the next start; only where
/// two of these runs would look the same, the later one takes the next look that is free.
QList<int> run_looks(const QList<qint64>& runs);

} // namespace batchscope::ui
