#include "ui/theme/shipped_font.h"

#include <QFontDatabase>

namespace batchscope::ui {

namespace {

/// Empty if it cannot be loaded.
QString load_family() {
  QString family;
  for (const char* file : {"RobotoCondensed-Regular.ttf", "RobotoCondensed-Bold.ttf"}) {
    const int id = QFontDatabase::addApplicationFont(QStringLiteral(":/batchscope/fonts/") + file);
    if (id < 0)
      return {};
    family = QFontDatabase::applicationFontFamilies(id).value(0);
  }
  return family;
}

} // namespace

QFont shipped_font(const QFont& system) {
  static const QString family = load_family();
  if (family.isEmpty())
    return system;
  QFont font = system;
  font.setFamilies({family, system.family()}); // what it lacks (arrows, other scripts) is the system's
  return font;
}

} // namespace batchscope::ui
