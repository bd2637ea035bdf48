#include "core/program/trial/tryout.h"

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::test;
using telemetry::RunStatus;

namespace {

bool never() {
  return false;
}

/// Names of what lies in a folder.
std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

} // namespace

/// A few steps of a program say what works on it.
class TestTryout : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() { qputenv("TMPDIR", scratch_.path().toUtf8()); }
  void cleanup() { QVERIFY2(names_in(scratch_.path().toStdString()).empty(), "a file is left behind"); }

  void aLoaderIsAskedForAnotherSize() {
    const ProgramRuns runs;
    std::vector<std::int64_t> seen;
    const auto tried = program::try_out(runs.loader(R"(
print("loading")
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    time.sleep(0.02)
    run.step(loss=1)
)"),
                                        60, never, [&](const program::Tryout& now) { seen.push_back(now.steps); });
    QCOMPARE(tried.level(), 2);
    QCOMPARE(tried.batch, std::optional<std::int64_t>(16));
    QCOMPARE(tried.changed_batch, std::optional<std::int64_t>(8));
    QCOMPARE(tried.start->train_examples, 1000);
    QVERIFY(tried.steps >= 3);
    QVERIFY(tried.step_seconds && *tried.step_seconds >= 0.02);
    QVERIFY(tried.status == RunStatus::stopped);
    QVERIFY(tried.output.find("loading") != std::string::npos);
    QVERIFY(seen.front() == 0 && seen.back() == tried.steps);
    QCOMPARE(runs.sockets_left(), 0U);
    QVERIFY(!std::filesystem::exists(runs.file())); // nothing is stored
  }

  void reportsAloneAreLevelOne() {
    const ProgramRuns runs;
    const auto tried = program::try_out(runs.python(R"(
import batchscope
run = batchscope.start()
run.event("level", level=1, reason="the data are iterable")
run.event("lint", text="the model is compiled")
step = 0
while not run.stopping:
    step += 1
    run.report(step, loss=1)
)"),
                                        60, never);
    QCOMPARE(tried.level(), 1);
    QVERIFY(tried.limited_by == telemetry::as_told("the data are iterable"));
    QVERIFY(tried.remarks == std::vector{telemetry::as_told("the model is compiled")});
    QVERIFY(!tried.changed_batch);
  }

  void aSilentProgramIsStopped() {
    const ProgramRuns runs;
    const auto tried = program::try_out(runs.command({"sh", "-c", "echo here; exec sleep 600"}), 0.2, never);
    QCOMPARE(tried.level(), 0);
    QCOMPARE(tried.steps, 0);
    QVERIFY(tried.status == RunStatus::stopped);
    QCOMPARE(tried.output, std::string("here\n"));
  }

  void aProgramThatConnectsButMakesNoStepIsStopped() {
    const ProgramRuns runs;
    const auto tried = program::try_out(runs.loader("wait_for('ever')"), 1, never);
    QCOMPARE(tried.steps, 0);
    QVERIFY(tried.status == RunStatus::stopped);
    QVERIFY2(tried.reason.starts_with("stopped, because it"), tried.reason.c_str());
    QVERIFY(tried.reason.ends_with("for 1 s"));
  }

  /// A program that goes wrong is ended, and one line says what it did.
  void faults_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("reason");
    QTest::addColumn<bool>("steps");
    QTest::newRow("prints without end") << "while True: print('loss 1')"
                                        << "" << true;
    QTest::newRow("prints nothing") << "time.sleep(1000)"
                                    << "stopped, because it neither connected nor reported a step for 1 s" << false;
    QTest::newRow("matches nothing") << "while True: print('none'); time.sleep(0.01)"
                                     << "stopped, because it neither connected nor reported a step for 1 s" << false;
    QTest::newRow("ends as a daemon") << "if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)"
                                      << "" << false;
    QTest::newRow("fills its disk") << "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                                       "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
                                       "for i in range(1000): print('a line of output', i)"
                                    << "exit status" << false;
    QTest::newRow("sends garbage") << "import socket\ns = socket.socket(socket.AF_UNIX)\n"
                                      "s.connect(os.environ['BATCHSCOPE_SOCKET'])\n"
                                      "s.send(b'\\x00\\xff garbage\\n{\"type\": 5}\\n')\nprint('loss 1')"
                                   << "" << true;
  }
  void faults() {
    QFETCH(QString, source);
    QFETCH(QString, reason);
    QFETCH(bool, steps);
    const ProgramRuns runs;
    run::RunSpec spec = runs.python(source.prepend("import os, sys, time\n").toStdString());
    spec.program->metrics = {{"loss", "loss (\\S+)"}};
    const auto tried = program::try_out(spec, reason.startsWith("stopped") ? 1 : 60, never);
    QVERIFY2(reason.isEmpty() ? tried.reason.empty() : tried.reason.find(reason.toStdString()) != std::string::npos,
             tried.reason.c_str());
    QVERIFY(tried.reason.find('\n') == std::string::npos);
    QCOMPARE(tried.steps > 0, steps);
    QVERIFY(tried.output.size() <= 17'000);
  }

  void theUserCanStopIt() {
    const ProgramRuns runs;
    const auto tried = program::try_out(runs.command({"sleep", "600"}), 600, [] { return true; });
    QVERIFY(tried.status == RunStatus::stopped);
  }

  void aFailureIsShownWithItsOutput() {
    const ProgramRuns runs;
    const auto tried = program::try_out(runs.python("raise ValueError('no such data')"), 60, never);
    QVERIFY(tried.status == RunStatus::failed);
    QVERIFY(tried.reason.find("no such data") != std::string::npos);
    QVERIFY(tried.output.find("Traceback") != std::string::npos);
  }

  void aProgramWithFewStepsEnds() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"sh", "-c", "echo loss=1; echo loss=2"});
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    const auto tried = program::try_out(spec, 60, never);
    QCOMPARE(tried.steps, 2);
    QCOMPARE(tried.level(), 0);
    QVERIFY(tried.status == RunStatus::finished);
  }

  void whatCannotStartIsSaid() {
    const ProgramRuns runs;
    try {
      program::try_out(runs.command({"no-such-command"}), 60, never);
      QFAIL("it was started");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find("no-such-command") != std::string::npos, error.what());
    }
    QVERIFY_EXCEPTION_THROWN(program::try_out(runs.command({"python3", "{nothing}"}), 60, never), Error);
  }

private:
  QTemporaryDir scratch_;
};

BATCHSCOPE_TEST(TestTryout)
#include "tst_tryout.moc"
