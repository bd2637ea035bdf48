#include "ui/schedule/presets.h"

#include <QCoreApplication>

#include <algorithm>

namespace batchscope::ui {

QList<SchedulePreset> schedule_presets(std::int64_t batch, std::int64_t steps, double epochs) {
  constexpr std::int64_t growth = 4; // factor up to which ramps grow
  constexpr std::int64_t stages = 4;
  const auto tr = [](const char* text) { return QCoreApplication::translate("SchedulePresets", text); };
  const std::int64_t interval = std::max<std::int64_t>(steps / stages, 1);
  const std::int64_t half = std::max<std::int64_t>(steps / 2, 1);
  const std::int64_t every = std::max<std::int64_t>(static_cast<std::int64_t>(epochs / stages), 1);
  const std::int64_t most = batch * growth;
  return {{tr("Constant"), QStringLiteral("constant")},
          {tr("Grow in steps"), QStringLiteral("step:interval=%1,increment=%2").arg(interval).arg(batch)},
          {tr("Grow linearly"), QStringLiteral("linear:max=%1").arg(most)},
          {tr("Grow exponentially"), QStringLiteral("exponential:max=%1").arg(most)},
          {tr("Two stages"), QStringLiteral("piecewise:0=%1,%2=%3").arg(batch).arg(half).arg(2 * batch)},
          {tr("Grow linearly, then hold"),
           QStringLiteral("edited:%1-=%2,base=linear:max=%3").arg(half).arg(2 * batch).arg(most)},
          {tr("AdaBatch"), QStringLiteral("adabatch:factor=2,every=%1").arg(every)},
          {tr("Formula"), QStringLiteral("formula:min(batch + 1, %1)").arg(most)}};
}

} // namespace batchscope::ui
