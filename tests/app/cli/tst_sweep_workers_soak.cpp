#include <memory>

#include "core/store/run_reader.h"
#include "test_program.h"
#include "tests/app/cli/sweep_test.h"

using namespace batchscope;
using namespace batchscope::test;

class TestSweepWorkersSoak : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aWorkerDiesEverySecond();
};

/// 200 runs by four workers, one of which is killed every second; another process joins in its place.
void TestSweepWorkersSoak::aWorkerDiesEverySecond() {
  constexpr int runs = 200;
  constexpr int between_ms = 1000;
  const CliProgram program;
  QProcess sweep;
  program.start(sweep, tiny_sweep(runs) + QStringList{"--workers", "4"});
  std::vector<std::unique_ptr<QProcess>> joined;
  std::size_t killed = 0;
  QTRY_VERIFY_WITH_TIMEOUT(count_of(rows_of(program), telemetry::RunStatus::finished) > 0, 120'000);
  const auto over = [&] { return sweep.state() == QProcess::NotRunning; };
  while (!QTest::qWaitFor(over, between_ms)) {
    const auto children = children_of(sweep.processId());
    const auto alive = std::find_if(joined.begin(), joined.end(),
                                    [](const auto& process) { return process->state() == QProcess::Running; });
    // The first process, which waits for the others, is spared.
    const qint64 victim = !children.isEmpty()     ? children.front()
                          : alive != joined.end() ? (*alive)->processId()
                                                  : qint64{0};
    if (victim == 0 || ::kill(static_cast<pid_t>(victim), SIGKILL) != 0)
      continue;
    ++killed;
    joined.push_back(std::make_unique<QProcess>());
    program.start(*joined.back(), {"sweep", "--join", "1", "--quiet"});
  }
  const Outcome outcome = CliProgram::finish(sweep);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  for (const auto& process : joined)
    process->waitForFinished(60'000);
  const auto rows = rows_of(program);
  const std::size_t interrupted = count_of(rows, telemetry::RunStatus::interrupted);
  qInfo("%zu workers killed, %zu attempts interrupted", killed, interrupted);
  QVERIFY(killed > 1 && interrupted <= killed);
  const QByteArray wrong = not_each_once(rows, runs);
  QVERIFY2(wrong.isEmpty(), wrong.constData());
  QCOMPARE(outcome.json()["runs"].toArray().size(), runs);
  QCOMPARE(store::RunReader(program.path("default.db").toStdString()).check(), std::vector<std::string>{});
}

BATCHSCOPE_TEST(TestSweepWorkersSoak)
#include "tst_sweep_workers_soak.moc"
