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

/// Whether Qt's part for a kind of display is installed; Wayland's comes in a package of its own.
bool has_plugin(const QString& platform) {
  const QDir plugins(QLibraryInfo::path(QLibraryInfo::PluginsPath) + QStringLiteral("/platforms"));
  const QString name = platform.startsWith(QLatin1String("wayland")) ? QStringLiteral("wayland*") : platform;
  return !plugins.entryList({QStringLiteral("libq%1.so").arg(name)}).isEmpty();
}

bool wayland_answers() {
  if (!qEnvironmentVariableIsSet("WAYLAND_DISPLAY"))
    return false;
  const QDir runtime(qEnvironmentVariable("XDG_RUNTIME_DIR"));
  return connects_to(QFile::encodeName(runtime.filePath(qEnvironmentVariable("WAYLAND_DISPLAY"))));
}

bool answers(const QString& platform) {
  if (!has_plugin(platform))
    return false;
  if (platform == QLatin1String("xcb"))
    return x_answers();
  return platform.startsWith(QLatin1String("wayland")) ? wayland_answers() : true;
}

class Texts {
  Q_DECLARE_TR_FUNCTIONS(Display)
};

/// Reasons why there is no display, one text each.
QStringList obstacles(const QStringList& wanted) {
  QStringList all;
  for (const QString& platform : wanted) {
    if (!has_plugin(platform) && (platform != QLatin1String("wayland") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY")))
      all.append(Texts::tr("the Qt platform plugin for %1 is not installed").arg(platform));
  }
  for (const char* variable : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (const QString value = qEnvironmentVariable(variable); !value.isEmpty())
      all.append(Texts::tr("%1=%2 cannot be reached").arg(variable, value));
  }
  if (all.isEmpty())
    all.append(Texts::tr("neither DISPLAY nor WAYLAND_DISPLAY is set"));
  return all;
}

} // namespace

QString missing_display() {
  QStringList wanted;
  for (const QString& platform : qEnvironmentVariable("QT_QPA_PLATFORM").split(QLatin1Char(';'), Qt::SkipEmptyParts))
    wanted.append(platform.section(QLatin1Char(':'), 0, 0));
  if (wanted.isEmpty())
    wanted = {QStringLiteral("wayland"), QStringLiteral("xcb")};
  for (const QString& platform : wanted) {
    if (answers(platform))
      return {};
  }
  return Texts::tr("cannot open a window: no display (%1); batchscope-cli does the same work in a terminal")
      .arg(obstacles(wanted).join(QStringLiteral("; ")));
}

} // namespace batchscope::window
