#include "ui/theme/sample_dashes.h"

#include <algorithm>
#include <numeric>

namespace batchscope::ui {

QList<qreal> sample_dashes(const QList<qreal>& dashes, double pen_width, double length) {
  constexpr double times = 2.2;
  const double period = std::accumulate(dashes.begin(), dashes.end(), 0.0) * pen_width;
  const double scale = period > 0 ? std::min(1.0, length / (times * period)) : 1;
  QList<qreal> shown = dashes;
  for (qreal& part : shown)
    part *= scale;
  return shown;
}

} // namespace batchscope::ui
