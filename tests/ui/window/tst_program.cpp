#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include "test_program.h"
#include "ui/window/settings.h"
#include "ui/workbench_test.h"

using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

struct Outcome {
  int status = -1;
  QString out, error;
};

} // namespace

/// The built program as a process of its own.
class ProgramTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void tellsVersionAndHelpWithoutADisplay() {
    const Outcome version = run({"--version"}, {});
    QCOMPARE(version.status, 0);
    QVERIFY(version.out.startsWith("batchscope "));
    const Outcome help = run({"--help"}, {});
    QCOMPARE(help.status, 0);
    QVERIFY(help.out.contains("--db <FILE>"));
    QCOMPARE(help.error, "");
  }

  void refusesBadOptions_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("words");
    QTest::newRow("unknown") << QStringList{"--frobnicate"} << "frobnicate";
    QTest::newRow("no value") << QStringList{"--db"} << "db";
    QTest::newRow("empty value") << QStringList{"--db", ""} << "--db";
    QTest::newRow("two databases") << QStringList{"--db", "a.db", "b.db"} << "one database";
    QTest::newRow("a name with a line's end") << QStringList{"--no\nsuch"} << "no such";
  }
  void refusesBadOptions() {
    QFETCH(QStringList, options);
    QFETCH(QString, words);
    const Outcome outcome = run(options, {{"QT_QPA_PLATFORM", "offscreen"}});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(is_one_error(outcome.error) && outcome.error.contains(words), qPrintable(outcome.error));
  }

  void saysThatThereIsNoDisplay_data() {
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("words");
    QTest::newRow("none") << "NOTHING"
                          << ""
                          << "neither DISPLAY nor WAYLAND_DISPLAY is set";
    QTest::newRow("no such X server") << "DISPLAY"
                                      << ":7654"
                                      << "DISPLAY=:7654 cannot be reached";
    QTest::newRow("no such host") << "DISPLAY"
                                  << "no-such-host.invalid:0"
                                  << "cannot be reached";
    QTest::newRow("no such Wayland") << "WAYLAND_DISPLAY"
                                     << "wayland-7654"
                                     << "WAYLAND_DISPLAY=wayland-7654";
    QTest::newRow("no such platform") << "QT_QPA_PLATFORM"
                                      << "offscren"
                                      << "the Qt platform plugin for offscren is not installed";
    QTest::newRow("X asked for") << "QT_QPA_PLATFORM"
                                 << "xcb"
                                 << "neither DISPLAY nor";
  }
  void saysThatThereIsNoDisplay() {
    QFETCH(QString, variable);
    QFETCH(QString, value);
    QFETCH(QString, words);
    for (const QStringList& options : {QStringList{}, QStringList{"--check-display"}}) {
      const Outcome outcome = run(options, {{variable, value}});
      QCOMPARE(outcome.status, 2);
      QVERIFY2(is_one_error(outcome.error) && outcome.error.contains(words), qPrintable(outcome.error));
      QVERIFY(outcome.error.contains("batchscope-cli"));
    }
    QVERIFY(!QFileInfo::exists(folder_->filePath("data")));
  }

  void opensAndClosesOnASignal_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGINT") << SIGINT;
  }
  void opensAndClosesOnASignal() {
    QFETCH(int, signal);
    QCOMPARE(run({"--check-display"}, {{"QT_QPA_PLATFORM", "offscreen"}}).status, 0);
    QProcess program;
    start(program, {folder_->filePath("study.db")},
          {{"QT_QPA_PLATFORM", "offscreen"}, {"QT_LOGGING_RULES", "batchscope.start=true"}});
    QByteArray said;
    QTRY_VERIFY_WITH_TIMEOUT((said += program.readAllStandardError()).contains("painted after"), patience_ms);
    QVERIFY(::kill(static_cast<pid_t>(program.processId()), signal) == 0);
    QVERIFY(program.waitForFinished(patience_ms));
    QCOMPARE(program.exitStatus(), QProcess::NormalExit);
    QCOMPARE(program.exitCode(), 0);
    const QJsonObject kept = Settings(folder_->filePath("config/batchscope/window.json")).peek();
    QCOMPARE(kept.value("page").toString(), "runs");
    QCOMPARE(kept.value("databases").toArray().first().toString(), folder_->filePath("study.db"));
  }

private:
  using Variables = QList<std::pair<QString, QString>>;

  static bool is_one_error(const QString& text) {
    return text.startsWith("batchscope: error: ") && text.count('\n') == 1 && text.endsWith('\n');
  }

  void start(QProcess& program, const QStringList& options, const Variables& variables) {
    auto environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "BATCHSCOPE_DB", "XDG_RUNTIME_DIR"})
      environment.remove(name);
    environment.insert("XDG_CONFIG_HOME", folder_->filePath("config"));
    environment.insert("XDG_DATA_HOME", folder_->filePath("data"));
    for (const auto& [name, value] : variables)
      environment.insert(name, value);
    program.setProcessEnvironment(environment);
    program.start(QFileInfo(BATCHSCOPE_CLI).path() + "/batchscope", options);
    QVERIFY(program.waitForStarted(patience_ms));
  }

  Outcome run(const QStringList& options, const Variables& variables) {
    QProcess program;
    start(program, options, variables);
    if (!program.waitForFinished(patience_ms))
      return {};
    return {program.exitCode(), QString::fromUtf8(program.readAllStandardOutput()),
            QString::fromUtf8(program.readAllStandardError())};
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

BATCHSCOPE_TEST(ProgramTest)
#include "tst_program.moc"
