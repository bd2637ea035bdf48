#include "ui/texts/memory_uses.h"

#include <QCoreApplication>

namespace batchscope::ui {

QList<MemoryUse> memory_uses(const std::array<std::uint64_t, telemetry::use_count>& bytes) {
  constexpr std::array<int, telemetry::use_count> colors = {0, 4, 2, 1, 3, 5};
  const auto name = [](telemetry::Use use) {
    switch (use) {
    case telemetry::Use::parameters:
      return QCoreApplication::translate("MemoryUse", "parameters");
    case telemetry::Use::gradients:
      return QCoreApplication::translate("MemoryUse", "gradients");
    case telemetry::Use::optimizer:
      return QCoreApplication::translate("MemoryUse", "optimizer");
    case telemetry::Use::activations:
      return QCoreApplication::translate("MemoryUse", "activations");
    case telemetry::Use::workspace:
      return QCoreApplication::translate("MemoryUse", "workspace");
    case telemetry::Use::batch:
      return QCoreApplication::translate("MemoryUse", "inputs");
    }
    return QString();
  };
  QList<MemoryUse> uses;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    uses.append({name(static_cast<telemetry::Use>(i)), bytes[i], colors[i]});
  return uses;
}

} // namespace batchscope::ui
