#include <csignal>

#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

class TestSweep : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void everyCombination();
  void combinationThatCannotRun();
  void nothingFinishes();
  void fromFile();
  void resumeRunsWhatIsMissing();
  void resumeAddsValues();
  void waitingRunsAreSkippedAndReordered();
  void interruptEndsTheWholeSweep();
  void runsThatAreDeletedMeanwhile();
  void refused_data();
  void refused();
};

namespace {

QStringList small_sweep(const QStringList& more) {
  return QStringList{"sweep",           "--json", "--model",
                     "mlp:hidden=8",    "--data", "synthetic:examples=100,shape=1x8x8,classes=2",
                     "--memory-budget", "50MB"} +
         more;
}

/// Waits until the program says that on stderr.
bool says_soon(QProcess& process, const QByteArray& text) {
  process.setReadChannel(QProcess::StandardError); // the one that waitForReadyRead() waits for
  QByteArray said;
  while (!(said += process.readAllStandardError()).contains(text))
    if (!process.waitForReadyRead(60'000))
      return false;
  return true;
}

QJsonArray runs_of(const CliProgram& program) {
  return program.run({"list", "--json"}).json()["runs"].toArray();
}

QStringList statuses(const CliProgram& program) {
  QStringList found;
  for (const auto& run : runs_of(program))
    found += run.toObject()["status"].toString();
  return found;
}

} // namespace

void TestSweep::everyCombination() {
  const CliProgram program;
  const Outcome outcome = program.run(small_sweep({"--batch", "8,16", "--lr", "0.1,0.2", "--repeats", "2"}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["sweep"].toInt(), 1);
  QCOMPARE(outcome.json()["runs"].toArray(), QJsonArray({1, 2, 3, 4, 5, 6, 7, 8}));
  QStringList combinations;
  for (int run = 1; run <= 8; ++run) {
    const QJsonObject spec = program.run({"show", "--json", QString::number(run)}).json()["spec"].toObject();
    combinations += QString("%1/%2/%3").arg(spec["batch"].toInt()).arg(spec["lr"].toDouble()).arg(spec["seed"].toInt());
  }
  QCOMPARE(combinations.join(' '), QString("8/0.1/1 8/0.1/2 8/0.2/1 8/0.2/2 16/0.1/1 16/0.1/2 16/0.2/1 16/0.2/2"));
  QCOMPARE(runs_of(program)[0].toObject()["sweep"].toInt(), 1);
}

void TestSweep::combinationThatCannotRun() {
  const CliProgram program;
  const Outcome outcome = program.run(small_sweep({"--batch", "8,1000"}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(statuses(program), QStringList({"finished", "failed"}));
  const QJsonObject failed = runs_of(program)[1].toObject();
  QVERIFY2(failed["reason"].toString().contains("1000"), qPrintable(failed["reason"].toString()));
}

void TestSweep::nothingFinishes() {
  const CliProgram program;
  const Outcome outcome = program.run(small_sweep({"--batch", "1000,2000"}));
  QVERIFY2(outcome.status == 1, outcome.shown().constData());
  QCOMPARE(outcome.json()["runs"].toArray().size(), 2);
}

void TestSweep::fromFile() {
  const CliProgram program;
  const QString file = program.write("sweep.json", R"({"model": "mlp:hidden=8",
    "data": "synthetic:examples=100,shape=1x8x8,classes=2", "memory_budget": "50MB", "batch": [4, 8], "repeats": 1})");
  const Outcome outcome = program.run({"sweep", "--json", file, "--batch", "8"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(runs_of(program).size(), 1);
  QCOMPARE(runs_of(program)[0].toObject()["batch"].toInt(), 8);
}

void TestSweep::resumeRunsWhatIsMissing() {
  const CliProgram program;
  QCOMPARE(program.run(small_sweep({"--batch", "8,16"})).status, 0);
  const Outcome outcome = program.run({"sweep", "--json", "--resume", "1"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["runs"].toArray(), QJsonArray({1, 2}));
  QCOMPARE(runs_of(program).size(), 2);
  QVERIFY(program.run({"sweep", "--resume", "7"}).status == 2);
  QVERIFY(program.run({"sweep", "--resume", "1", "--only", "batch = 4"}).status == 2);
  QVERIFY(program.run({"sweep", "--resume", "1", "--epochs", "2"}).status == 2);
}

void TestSweep::resumeAddsValues() {
  const CliProgram program;
  QCOMPARE(program.run(small_sweep({"--batch", "8,16"})).status, 0);
  // The first two have no dropout and seed 1: they are among the combinations of all three fields.
  Outcome outcome = program.run({"sweep", "--json", "--resume", "1", "--vary", "dropout=0.5", "--repeats", "2"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["runs"].toArray(), QJsonArray({1, 3, 4, 5, 2, 6, 7, 8}));
  outcome = program.run({"sweep", "--json", "--resume", "1", "--batch", "16,4"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(runs_of(program).size(), 12);
  QSet<QString> names;
  for (const auto& run : runs_of(program))
    names += run.toObject()["name"].toString();
  QCOMPARE(names.size(), 12);
  QVERIFY(names.contains("batch 4, dropout 0.5, seed 2"));
  // What was added is part of the sweep: nothing is missing now.
  QCOMPARE(program.run({"sweep", "--json", "--resume", "1"}).json()["runs"].toArray().size(), 12);
  QCOMPARE(runs_of(program).size(), 12);
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--resume", "1", "--repeats", "1"}), "--repeats"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--resume", "1", "--random", "3"}), "--random"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--resume", "1", "--vary", "max_batch=8"}), "--max-batch"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--resume", "1", "--batch", "0"}), "--batch"));
}

void TestSweep::waitingRunsAreSkippedAndReordered() {
  const CliProgram program;
  QProcess process;
  program.start(process, small_sweep({"--batch", "2,4,8,16", "--epochs", "1000000"}));
  QVERIFY(says_soon(process, "run 1"));
  QCOMPARE(program.run({"sweep", "--json", "--first", "4"}).json()["order"].toArray(), QJsonArray({4, 2, 3}));
  QCOMPARE(program.run({"sweep", "--json", "--skip", "2"}).json()["skipped"].toArray(), QJsonArray({2}));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--skip", "3", "1"}), "--skip: run 1 is running"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--first", "2"}), "--first: run 2 is stopped"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--skip", "99"}), "99"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--skip", "3", "--resume", "1"}), "--resume"));
  QVERIFY(batchscope::test::refused(program.run({"sweep", "--skip", "3", "--first", "3"}), "--first"));
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  QVERIFY(says_soon(process, "run 4"));
  QCOMPARE(statuses(program), QStringList({"stopped", "stopped", "queued", "running"}));
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  QCOMPARE(CliProgram::finish(process).status, 130);
  QCOMPARE(runs_of(program)[1].toObject()["reason"].toString(), QString("skipped"));
}

void TestSweep::interruptEndsTheWholeSweep() {
  const CliProgram program;
  QProcess process;
  QStringList arguments = small_sweep({"--batch", "4,8,16", "--epochs", "1000000"});
  arguments.removeOne("--json");
  program.start(process, arguments);
  QVERIFY(says_soon(process, "run 1"));
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const Outcome outcome = CliProgram::finish(process);
  QVERIFY2(outcome.status == 130, outcome.shown().constData());
  QCOMPARE(statuses(program), QStringList({"stopped"}));
  QVERIFY2(outcome.out.contains("sweep 1: 0 of 3 runs finished"), outcome.shown().constData());

  // The stopped one and those that never began are what is missing.
  program.start(process, {"sweep", "--json", "--resume", "1"});
  QVERIFY(says_soon(process, "run 4")); // 2 and 3 waited and were withdrawn
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  QCOMPARE(CliProgram::finish(process).status, 130);
  QCOMPARE(statuses(program), QStringList({"stopped", "stopped"}));
}

void TestSweep::runsThatAreDeletedMeanwhile() {
  const CliProgram program;
  QStringList arguments = small_sweep({"--batch", "4,8", "--epochs", "300"});
  arguments.removeOne("--json");
  QProcess process;
  program.start(process, arguments);
  QVERIFY(says_soon(process, "run 2"));
  batchscope::store::RunStore(program.path("default.db").toStdString()).set_deleted({1}, true);
  const Outcome outcome = CliProgram::finish(process);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QVERIFY2(outcome.out.contains("sweep 1: 1 of 1 runs finished"), outcome.shown().constData());
}

void TestSweep::refused_data() {
  QTest::addColumn<QString>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const QByteArray& named) {
    QTest::newRow(arguments) << QString(arguments) << named;
  };
  row("--batch 8,0", "--batch");
  row("--batch 8,,16", "--batch");
  row("--batch 8,8", "--batch");
  row("--batch ,", "--batch");
  row("--batch 8 --lr 0.1,nan", "--lr");
  row("--batch 8 --lr 0.1,-1", "--lr");
  row("--batch 8 --repeats 0", "--repeats");
  row("--batch 8 --repeats 1000000", "1000000");
  row("--batch 8 --schedule nope", "nope");
  row("--batch 8 --epochs 1 --steps 2", "--steps");
  row("--batch 8 --optimizer lion", "lion");
  // What no combination could run with is refused as a whole too.
  row("--batch 8 --device cuda:99", "cuda");
  row("--batch 8 --model nope", "nope");
  row("--batch 8 --data idx:missing,missing", "missing");
  row("--resume x", "--resume");
  row("missing.json", "missing.json");
}

void TestSweep::refused() {
  QFETCH(QString, arguments);
  QFETCH(QByteArray, named);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(QStringList{"sweep", "--json"} + arguments.split(' ')), named);
  QVERIFY(program.files().isEmpty());
}

BATCHSCOPE_TEST(TestSweep)
#include "tst_sweep.moc"
