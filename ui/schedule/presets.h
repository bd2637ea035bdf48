#pragma once

#include <QList>
#include <QString>

#include <cstdint>

namespace batchscope::ui {

/// An example schedule for a run of this size.
struct SchedulePreset {
  QString name;
  QString text;
};

/// One of each form of schedule, from this first batch over this many steps and epochs.
QList<SchedulePreset> schedule_presets(std::int64_t batch, std::int64_t steps, double epochs);

} // namespace batchscope::ui
