#include <memory>

#include "core/store/run_reader.h"
#include "test_program.h"
#include "tests/app/cli/sweep_test.h"

using namespace batchscope::test;
namespace store = batchscope::store;

class TestSweepWorkers : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void eachRunOnceAlthoughWorkersDie();
  void severalProgramsAtOneSweep();
  void theBudgetIsShared();
};

/// Every few runs a worker is killed and another one joins; in the end each combination has finished exactly once.
void TestSweepWorkers::eachRunOnceAlthoughWorkersDie() {
  using batchscope::telemetry::RunStatus;
  const int runs = sanitized ? 12 : 40;
  const CliProgram program;
  QProcess sweep;
  program.start(sweep, tiny_sweep(runs) + QStringList{"--workers", "3"});
  std::vector<std::unique_ptr<QProcess>> joined;
  std::size_t killed = 0;
  for (std::size_t next = 3; next < static_cast<std::size_t>(runs) - 4; next += 7) {
    QTRY_VERIFY_WITH_TIMEOUT(count_of(rows_of(program), RunStatus::finished) >= next, 120'000);
    const auto children = children_of(sweep.processId());
    QProcess* victim = joined.empty() ? nullptr : joined.back().get();
    if (!children.isEmpty())
      QCOMPARE(::kill(static_cast<pid_t>(children.front()), SIGKILL), 0);
    else if (victim)
      victim->kill();
    ++killed;
    joined.push_back(std::make_unique<QProcess>());
    program.start(*joined.back(), {"sweep", "--join", "1", "--quiet"});
  }
  const Outcome outcome = CliProgram::finish(sweep);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  for (const auto& process : joined)
    process->waitForFinished(60'000);
  QVERIFY(killed > 0);
  const auto rows = rows_of(program);
  const QByteArray wrong = not_each_once(rows, runs);
  QVERIFY2(wrong.isEmpty(), wrong.constData());
  QCOMPARE(outcome.json()["runs"].toArray().size(), runs);
  QVERIFY(count_of(rows, RunStatus::interrupted) <= killed);
  QCOMPARE(store::RunReader(program.path("default.db").toStdString()).check(), std::vector<std::string>{});
}

/// The first program trains a run without an end, so that the other one makes the rest beside it.
void TestSweepWorkers::severalProgramsAtOneSweep() {
  using batchscope::telemetry::RunStatus;
  const CliProgram program;
  QStringList arguments = tiny_sweep(1);
  arguments.last() = "epochs=1000000,1,2,3";
  QProcess first;
  program.start(first, arguments);
  QTRY_VERIFY_WITH_TIMEOUT(count_of(rows_of(program), RunStatus::running) == 1, 60'000);
  QProcess second;
  program.start(second, {"sweep", "--join", "1", "--json"});
  QTRY_VERIFY_WITH_TIMEOUT(count_of(rows_of(program), RunStatus::finished) == 3, 60'000);
  QCOMPARE(program.run({"steer", "1", "stop"}).status, 0);
  for (QProcess* process : {&first, &second}) {
    const Outcome outcome = CliProgram::finish(*process);
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
  }
  const auto rows = rows_of(program);
  QCOMPARE(rows.size(), std::size_t{4});
  QCOMPARE(rows.front().outcome.status, RunStatus::stopped);
  for (const store::RunRow& row : rows)
    QCOMPARE(row.workers, std::int64_t{2});
}

/// Two runs that need more than half of the memory never train at the same time.
void TestSweepWorkers::theBudgetIsShared() {
  const CliProgram program;
  const Outcome outcome = program.run({"sweep", "--json", "--model", "mlp:hidden=256", "--data",
                                       "synthetic:examples=4000,shape=1x16x16,classes=4", "--memory-budget", "10MB",
                                       "--batch", "70%", "--vary", "seed=1,2,3,4", "--workers", "2"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const auto rows = rows_of(program);
  QCOMPARE(rows.size(), std::size_t{4});
  for (const store::RunRow& row : rows) {
    QCOMPARE(row.outcome.status, batchscope::telemetry::RunStatus::finished);
    QCOMPARE(row.workers, std::int64_t{1});
    QVERIFY(row.outcome.peak_bytes > 5'000'000 && row.outcome.peak_bytes <= 10'000'000);
  }
}

BATCHSCOPE_TEST(TestSweepWorkers)
#include "tst_sweep_workers.moc"
