#include <QFile>

#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

namespace {

/// The variables that the process was started with, after it has started itself once more.
QByteArrayList environment_of(const QProcess& process) {
  QFile file(QStringLiteral("/proc/%1/environ").arg(process.processId()));
  return file.open(QIODevice::ReadOnly) ? file.readAll().split('\0') : QByteArrayList();
}

/// Training until it is told to stop.
QStringList long_run() {
  return {"train",         "--quiet",  "--model",
          "mlp:hidden=16", "--data",   "synthetic:examples=400,shape=1x8x8,classes=4",
          "--batch",       "16",       "--memory-budget",
          "50MB",          "--epochs", "100000"};
}

} // namespace

/// How long OpenMP's threads wait by spinning is settled before the library is loaded.
class TestOpenmpWait : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("built with a sanitizer, the program does not start itself once more");
#endif
  }

  void theSpinIsBounded() {
    CliProgram program;
    program.unset("OMP_WAIT_POLICY");
    program.unset("GOMP_SPINCOUNT");
    QProcess process;
    program.start(process, long_run());
    QTRY_VERIFY_WITH_TIMEOUT(environment_of(process).contains("GOMP_SPINCOUNT=10000"), 60'000);
    // Sleeping at once would cost small nets most of their speed.
    QVERIFY(!environment_of(process).contains("OMP_WAIT_POLICY=passive"));
    process.kill();
    QVERIFY(process.waitForFinished());
  }

  void theUsersOwnSettingStays_data() {
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QString>("value");
    QTest::newRow("policy") << "OMP_WAIT_POLICY"
                            << "active";
    QTest::newRow("spin") << "GOMP_SPINCOUNT"
                          << "123";
  }
  void theUsersOwnSettingStays() {
    QFETCH(QString, variable);
    QFETCH(QString, value);
    CliProgram program;
    program.unset("OMP_WAIT_POLICY");
    program.set(variable, value);
    QProcess process;
    program.start(process, long_run());
    // The database is there once main() runs, and then nothing is started again.
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(program.path("default.db")), 60'000);
    const QByteArrayList environment = environment_of(process);
    QVERIFY(environment.contains(variable.toUtf8() + '=' + value.toUtf8()));
    QVERIFY(!environment.contains("GOMP_SPINCOUNT=10000"));
    process.kill();
    QVERIFY(process.waitForFinished());
  }
};

QTEST_MAIN(TestOpenmpWait)
#include "tst_openmp_wait.moc"
