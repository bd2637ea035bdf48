#include "ui/run/memory_uses.h"

#include <QCoreApplication>

namespace batchscope::ui {

QList<MemoryUse> memory_uses(const std::array<std::uint64_t, predict::use_count>& bytes) {
  constexpr std::array<int, predict::use_count> colors = {0, 4, 2, 1, 3, 5};
  const auto name = [](predict::Use use) {
    switch (use) {
    case predict::Use::parameters:
      return QCoreApplication::translate("MemoryUse", "parameters");
    case predict::Use::gradients:
      return QCoreApplication::translate("MemoryUse", "gradients");
    case predict::Use::optimizer:
      return QCoreApplication::translate("MemoryUse", "optimizer");
    case predict::Use::activations:
      return QCoreApplication::translate("MemoryUse", "activations");
    case predict::Use::workspace:
      return QCoreApplication::translate("MemoryUse", "workspace");
    case predict::Use::batch:
      return QCoreApplication::translate("MemoryUse", "batch");
    }
    return QString();
  };
  QList<MemoryUse> uses;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    uses.append({name(static_cast<predict::Use>(i)), bytes[i], colors[i]});
  return uses;
}

} // namespace batchscope::ui
