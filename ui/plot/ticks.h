#pragma once

#include <QString>
#include <QTimeZone>
#include <QVector>

#include "ui/plot/range.h"

namespace batchscope::ui {

/// Positions and labels of an axis's ticks.
struct Ticks {
  QVector<double> places;
  QVector<QString> labels;
};

/// At 1, 2 or 5 times a power of ten, about `most` ticks; with as few digits as keep labels distinct.
Ticks linear_ticks(const Range& range, int most, bool integer);
/// At powers of ten, and at 2 and 5 times those if there is room.
Ticks log_ticks(const Range& range, int most);

/// Of seconds since 1970, at full seconds, minutes, hours or days of this zone.
Ticks clock_ticks(const Range& range, int most, const QTimeZone& zone);
/// Date and time of this place: 28 Nov 14:03:05.
QString clock_text(double unix_seconds);

/// A number for reading off a plot: with thousands separators and at most `digits` significant digits; NaN and
/// infinities as such.
QString number_text(double value, int digits = 5);
/// The same for a value of an x axis.
QString x_text(double x, XValues values);

} // namespace batchscope::ui
