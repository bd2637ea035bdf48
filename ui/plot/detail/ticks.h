#pragma once

#include <QString>
#include <QVector>

#include "ui/plot/detail/view.h"

namespace batchscope::ui {

/// Where an axis has lines, and what is written there.
struct Ticks {
  QVector<double> places;
  QVector<QString> labels;
};

/// At 1, 2 or 5 times a power of ten, about `most` of them; with as few digits as tell them apart.
Ticks linear_ticks(const Range& range, int most, bool integer);
/// At powers of ten, with 2 and 5 times those where there is room.
Ticks log_ticks(const Range& range, int most);

/// A number as read off a plot: thousands apart, at most `digits` significant ones, NaN and infinite as such.
QString number_text(double value, int digits = 5);

} // namespace batchscope::ui
