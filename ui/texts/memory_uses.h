#pragma once

#include <QList>
#include <QString>

#include "core/predict/peak_curve.h"

namespace batchscope::ui {

/// One use of memory, with the name and colour common to all pages.
struct MemoryUse {
  QString name;
  std::uint64_t bytes = 0;
  int series = 0; ///< colour: Theme::series()
};
/// One per telemetry::Use, in the order of their values.
QList<MemoryUse> memory_uses(const std::array<std::uint64_t, telemetry::use_count>& bytes);

} // namespace batchscope::ui
