#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

namespace {

/// OpenMP's library, which the engine needs and nothing else, prints its settings as it is loaded.
void print_settings(CliProgram& program) {
  program.unset("OMP_WAIT_POLICY");
  program.unset("GOMP_SPINCOUNT");
  program.set("OMP_DISPLAY_ENV", "verbose");
}

constexpr const char* printed = "OPENMP DISPLAY ENVIRONMENT BEGIN";

/// Trains for a moment.
Outcome train(const CliProgram& program) {
  return program.run({"--quiet", "train", "--model", "mlp:hidden=16", "--data",
                      "synthetic:examples=400,shape=1x8x8,classes=4", "--batch", "16", "--memory-budget", "50MB",
                      "--steps", "2"});
}

} // namespace

/// What needs no LibTorch never loads it, and it finds OpenMP's settings as they should be.
class TestEngineLoading : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void whatOnlyLooksDoesWithoutIt_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("version") << QStringList{"--version"};
    QTest::newRow("help") << QStringList{"train", "--help"};
    QTest::newRow("plan") << QStringList{"plan", "--examples", "1000", "--batch", "10", "--epochs", "2"};
    QTest::newRow("list") << QStringList{"list"};
    QTest::newRow("show") << QStringList{"show", "1"};
    QTest::newRow("export") << QStringList{"export", "1", "--format", "csv", "-o", "run.csv"};
    QTest::newRow("check") << QStringList{"check"};
  }
  void whatOnlyLooksDoesWithoutIt() {
    QFETCH(QStringList, arguments);
    CliProgram program;
    QCOMPARE(train(program).status, 0); // a run to look at
    print_settings(program);
    const Outcome outcome = program.run(arguments);
    QVERIFY2(outcome.status == 0, outcome.shown());
    QVERIFY2(!outcome.err.contains(printed), outcome.shown());
  }

  void openmpSpinsForAMomentOnly() {
    CliProgram program;
    print_settings(program);
    const Outcome outcome = train(program);
    QVERIFY2(outcome.err.contains(printed), outcome.shown());
    QVERIFY2(outcome.err.contains("GOMP_SPINCOUNT = '10000'"), outcome.shown());
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
    print_settings(program);
    program.set(variable, value);
    const Outcome outcome = train(program);
    QVERIFY2(outcome.err.contains(printed), outcome.shown());
    QVERIFY2(!outcome.err.contains("GOMP_SPINCOUNT = '10000'"), outcome.shown());
    if (variable == "GOMP_SPINCOUNT")
      QVERIFY2(outcome.err.contains("GOMP_SPINCOUNT = '123'"), outcome.shown());
  }
};

BATCHSCOPE_TEST(TestEngineLoading)
#include "tst_engine_loading.moc"
