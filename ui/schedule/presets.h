#pragma once

#include <QList>
#include <QString>

#include <cstdint>

namespace batchscope::ui {

/// A schedule to begin with, made for a run of this size.
struct SchedulePreset {
  QString name;
  QString text;
};

/// One of each form that there is, from this first batch over so many steps and epochs.
QList<SchedulePreset> schedule_presets(std::int64_t batch, std::int64_t steps, double epochs);

} // namespace batchscope::ui
