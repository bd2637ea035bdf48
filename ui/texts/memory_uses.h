#pragma once

#include <QList>
#include <QString>

#include "core/predict/peak_curve.h"

namespace batchscope::ui {

/// What memory is filled with, as all pages name and colour it.
struct MemoryUse {
  QString name;
  std::uint64_t bytes = 0;
  int series = 0; ///< colour: Theme::series()
};
/// One for each telemetry::Use, in the order of their numbers.
QList<MemoryUse> memory_uses(const std::array<std::uint64_t, telemetry::use_count>& bytes);

} // namespace batchscope::ui
