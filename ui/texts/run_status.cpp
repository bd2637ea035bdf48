#include "ui/texts/run_status.h"

#include <QCoreApplication>

namespace batchscope::ui {

namespace {

struct Look {
  const char* status;
  const char* text; ///< untranslated
  Role role;
};

#define TEXT(source) QT_TRANSLATE_NOOP("RunStatus", source)

constexpr Look looks[] = {
    {"queued", TEXT("queued"), Role::dimmed},
    {"loading", TEXT("loading"), Role::dimmed},
    {"running", TEXT("running"), Role::accent},
    {"paused", TEXT("paused"), Role::warning},
    {"finished", TEXT("finished"), Role::good},
    {"stopped", TEXT("stopped"), Role::dimmed},
    {"failed", TEXT("failed"), Role::error},
    {"interrupted", TEXT("interrupted"), Role::warning},
    {"unreadable", TEXT("cannot be read"), Role::error},
};

#undef TEXT

const Look* look_of(const QString& status) {
  for (const Look& look : looks) {
    if (status == QLatin1String(look.status))
      return &look;
  }
  return nullptr;
}

} // namespace

QString status_name(telemetry::RunStatus status) {
  return QString::fromStdString(telemetry::to_string(status));
}

QString status_text(const QString& status) {
  const Look* look = look_of(status);
  return look == nullptr ? status : QCoreApplication::translate("RunStatus", look->text);
}

Role role_of_status(const QString& status) {
  const Look* look = look_of(status);
  return look == nullptr ? Role::dimmed : look->role;
}

} // namespace batchscope::ui
