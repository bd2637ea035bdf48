#include "ui/theme/system_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QFileInfo>

namespace batchscope::ui {

namespace {

const QString service = QStringLiteral("org.freedesktop.portal.Desktop");
const QString path = QStringLiteral("/org/freedesktop/portal/desktop");
const QString interface = QStringLiteral("org.freedesktop.portal.Settings");
const QString space = QStringLiteral("org.freedesktop.appearance");
const QString key = QStringLiteral("color-scheme");

/// Without an address the D-Bus library would start its own bus and wait for it.
bool has_session_bus() {
  return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") ||
         (qEnvironmentVariableIsSet("XDG_RUNTIME_DIR") &&
          QFileInfo::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + QStringLiteral("/bus")));
}

} // namespace

SystemScheme::SystemScheme(QObject* parent) : QObject(parent) {
  if (has_session_bus())
    ask();
}

void SystemScheme::ask() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected())
    return;
  // The slot is looked up by the names of its types.
  qRegisterMetaType<QDBusVariant>("QDBusVariant");
  // From any owner: querying the portal's owner would block.
  bus.connect(QString(), path, interface, QStringLiteral("SettingChanged"), this,
              SLOT(take_change(QString, QString, QDBusVariant)));
  auto question = QDBusMessage::createMethodCall(service, path, interface, QStringLiteral("Read"));
  question << space << key;
  auto* call = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
  connect(call, &QDBusPendingCallWatcher::finished, this, &SystemScheme::take_answer);
}

void SystemScheme::take_answer(QDBusPendingCallWatcher* call) {
  const QDBusPendingReply<QDBusVariant> answer = *call;
  if (answer.isValid())
    take(answer.value().variant());
  call->deleteLater();
}

void SystemScheme::take_change(const QString& of_space, const QString& of_key, const QDBusVariant& value) {
  if (of_space == space && of_key == key)
    take(value.variant());
}

void SystemScheme::take(const QVariant& value) {
  // Read() wraps its answer once more than the signal does.
  const QVariant plain = value.canConvert<QDBusVariant>() ? value.value<QDBusVariant>().variant() : value;
  const uint preference = plain.toUInt(); // 0 none, 1 dark, 2 light
  const auto dark = preference == 1 || preference == 2 ? std::optional(preference == 1) : std::nullopt;
  if (dark == dark_)
    return;
  dark_ = dark;
  Q_EMIT changed();
}

} // namespace batchscope::ui

#include "moc_system_scheme.cpp"
