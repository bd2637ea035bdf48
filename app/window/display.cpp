#include "app/window/display.h"

#include <cstring>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QLibraryInfo>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xcb/xcb.h>

namespace batchscope::window {

namespace {

bool x_answers() {
  if (!qEnvironmentVariableIsSet("DISPLAY"))
    return false;
  xcb_connection_t* connection = xcb_connect(nullptr, nullptr);
  const bool answers = xcb_connection_has_error(connection) == 0;
  xcb_disconnect(connection);
  return answers;
}

bool connects_to(const QByteArray& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (static_cast<std::size_t>(path.size()) >= sizeof address.sun_path)
    return false;
  std::memcpy(address.sun_path, path.constData(), static_cast<std::size_t>(path.size()));
  const int handle = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle < 0)
    return false;
  const bool connected = ::connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(handle);
  return connected;
}

bool wayland_answers() {
  if (!qEnvironmentVariableIsSet("WAYLAND_DISPLAY"))
    return false;
  // Qt's part for it comes in a package of its own.
  const QDir plugins(QLibraryInfo::path(QLibraryInfo::PluginsPath) + QStringLiteral("/platforms"));
  if (plugins.entryList({QStringLiteral("libqwayland*.so")}).isEmpty())
    return false;
  const QDir runtime(qEnvironmentVariable("XDG_RUNTIME_DIR"));
  return connects_to(QFile::encodeName(runtime.filePath(qEnvironmentVariable("WAYLAND_DISPLAY"))));
}

bool answers(const QString& platform) {
  if (platform == QLatin1String("xcb"))
    return x_answers();
  return platform.startsWith(QLatin1String("wayland")) ? wayland_answers() : true;
}

} // namespace

QString missing_display() {
  QString wanted = qEnvironmentVariable("QT_QPA_PLATFORM");
  if (wanted.isEmpty())
    wanted = QStringLiteral("wayland;xcb");
  for (const QString& platform : wanted.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
    if (answers(platform.section(QLatin1Char(':'), 0, 0)))
      return {};
  }
  QStringList tried;
  for (const char* variable : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (qEnvironmentVariableIsSet(variable))
      tried.append(QStringLiteral("%1=%2").arg(QLatin1String(variable), qEnvironmentVariable(variable)));
  }
  const QString reason =
      tried.isEmpty()
          ? QCoreApplication::translate("Display", "neither DISPLAY nor WAYLAND_DISPLAY is set")
          : QCoreApplication::translate("Display", "%1 cannot be reached").arg(tried.join(QStringLiteral(", ")));
  return QCoreApplication::translate(
             "Display", "no display to open a window on (%1); batchscope-cli does the same work in a terminal")
      .arg(reason);
}

} // namespace batchscope::window
