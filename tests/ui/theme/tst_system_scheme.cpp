#include <QApplication>
#include <QProcess>
#include <QTest>
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusConnectionInterface>
#include <QtDBus/QDBusVariant>

#include "test_program.h"
#include "ui/theme/theme.h"

using namespace batchscope::ui;

namespace {

constexpr int patience_ms = 20'000;

/// What a desktop's portal says of light and dark.
class Portal : public QObject {
  Q_OBJECT
  Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")

public:
  uint scheme = 1; // dark
  int asked = 0;

  void change(uint value) {
    scheme = value;
    Q_EMIT SettingChanged("org.freedesktop.appearance", "color-scheme", QDBusVariant(value));
  }
  void change_something_else() { Q_EMIT SettingChanged("org.gnome.desktop", "color-scheme", QDBusVariant(2U)); }

public Q_SLOTS:
  QDBusVariant Read(const QString& space, const QString& key) {
    ++asked;
    const bool known = space == "org.freedesktop.appearance" && key == "color-scheme";
    // The portal wraps its answer twice.
    return QDBusVariant(QVariant::fromValue(QDBusVariant(known ? scheme : 0)));
  }

Q_SIGNALS:
  void SettingChanged(const QString& space, const QString& key, const QDBusVariant& value);
};

} // namespace

class SystemSchemeTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    bus_.start("dbus-daemon", {"--session", "--nofork", "--print-address=1"});
    if (!bus_.waitForStarted() || !bus_.waitForReadyRead(patience_ms))
      QSKIP("no dbus-daemon here");
    const QByteArray address = bus_.readLine().trimmed();
    qputenv("DBUS_SESSION_BUS_ADDRESS", address);
    QDBusConnection connection = QDBusConnection::connectToBus(QString::fromLatin1(address), "portal");
    QVERIFY(connection.isConnected());
    QVERIFY(connection.registerObject("/org/freedesktop/portal/desktop", &portal_,
                                      QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
    QVERIFY(connection.registerService("org.freedesktop.portal.Desktop"));
  }

  void followsThePortal() {
    Theme theme;
    theme.apply_to(*qApp);
    // The start does not wait for the answer.
    QCOMPARE(portal_.asked, 0);
    QTRY_COMPARE_WITH_TIMEOUT(portal_.asked, 1, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(theme.dark(), patience_ms);
    portal_.change(2);
    QTRY_VERIFY_WITH_TIMEOUT(!theme.dark(), patience_ms);
    portal_.change(1);
    QTRY_VERIFY_WITH_TIMEOUT(theme.dark(), patience_ms);
    // The desktop's palette says light, the portal dark: the portal counts.
    QApplication::setPalette(QPalette(Qt::white));
    QVERIFY(theme.dark());
    theme.set_mode(Theme::Mode::light);
    QVERIFY(!theme.dark());
    theme.set_mode(Theme::Mode::system);
    QVERIFY(theme.dark());
    portal_.change_something_else();
    portal_.change(0); // no preference: the palette's lightness
    QTRY_VERIFY_WITH_TIMEOUT(!theme.dark(), patience_ms);
  }

  void cleanupTestCase() {
    QDBusConnection::disconnectFromBus("portal");
    bus_.terminate();
    bus_.waitForFinished(patience_ms);
  }

private:
  QProcess bus_;
  Portal portal_;
};

BATCHSCOPE_TEST(SystemSchemeTest)
#include "tst_system_scheme.moc"
