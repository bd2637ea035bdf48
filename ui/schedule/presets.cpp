#include "ui/schedule/presets.h"

#include <QCoreApplication>

#include "core/schedule/schedule_kind.h"

namespace batchscope::ui {

QList<SchedulePreset> schedule_presets(std::int64_t batch, std::int64_t steps, double epochs) {
  QList<SchedulePreset> presets;
  for (const schedule::ScheduleKind* kind : schedule::schedule_kinds())
    presets += {QCoreApplication::translate("SchedulePresets", kind->title),
                QString::fromStdString(kind->example(batch, steps, epochs))};
  return presets;
}

} // namespace batchscope::ui
