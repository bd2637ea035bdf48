#include <QTest>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/program/trial/process_trial.h"
#include "core/program/trial/program_search.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::program;
using batchscope::test::ProgramRuns;
using search::Outcome;

namespace {

/// A program that pretends to train: `source`, with its batch as b.
run::RunSpec pretended(const std::string& source, const std::string& metric = "loss (\\S+)") {
  run::RunSpec spec;
  spec.program = run::ProgramSpec{
      .command = {"python3", "-u", "-c", "import sys, time\nb = int(sys.argv[1])\n" + source, "{batch}"}};
  if (!metric.empty())
    spec.program->metrics = {{"loss", metric}};
  return spec;
}

/// One step after the other, without an end.
constexpr const char* endless = R"(
while True:
    held = bytearray(b * (1 << 20))
    print('loss', b)
    del held
    time.sleep(0.001)
)";

search::Probe run_once(const run::RunSpec& spec, std::int64_t batch = 4) {
  const ProgramRuns runs;
  return ProcessTrial(spec, {}, {}).run({.batch = batch});
}

/// A program that has made no step.
class FailedRun final : public ProgramRun {
public:
  FailedRun(std::uint64_t peak, const std::string& reason) : peak_(peak) {
    verdict_.reason = telemetry::as_told(reason);
  }

  run::RunStart start() const override { return {}; }
  run::Environment environment() const override { return {}; }
  telemetry::RunOutcome run(telemetry::Sink&, run::RunControl&) override { return {}; }
  std::int64_t pid() const override { return 1; }
  const Verdict& verdict() const override { return verdict_; }
  const std::optional<Exit>& exit() const override { return exit_; }
  std::optional<std::uint64_t> peak() const override { return peak_; }
  const std::optional<telemetry::OutOfMemory>& shortage() const override { return shortage_; }
  const std::string& output_tail() const override { return tail_; }

private:
  const std::uint64_t peak_;
  Verdict verdict_;
  std::optional<Exit> exit_;
  std::optional<telemetry::OutOfMemory> shortage_;
  std::string tail_;
};

} // namespace

class TestProcessTrial : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// A size fits after some steps; the program is then ended, although it would go on for ever.
  void enoughSteps() {
    const search::Probe probe = run_once(pretended(endless), 40);
    QVERIFY2(probe.outcome == Outcome::fits, probe.message.c_str());
    QCOMPARE(probe.batch, 40);
    QVERIFY(probe.peak_bytes.value() >= 40U << 20);
    QCOMPARE(probe.how, std::string("process"));
    QVERIFY(probe.pid.value() > 1);
  }

  /// Of errors over the socket, those that say nothing about the size do not count.
  void errorsThatSayNothingOfTheSize_data() {
    QTest::addColumn<QByteArray>("error");
    QTest::addColumn<bool>("fits");
    QTest::newRow("tried again") << QByteArray(R"(where="training", outcome="retried")") << true;
    QTest::newRow("smaller evaluation") << QByteArray(R"(where="evaluation", outcome="smaller", split_to=4)") << true;
    QTest::newRow("in parts") << QByteArray(R"(where="training", outcome="split", split_to=4)") << false;
    QTest::newRow("evaluation") << QByteArray(R"(where="evaluation", outcome="not-survived")") << false;
    QTest::newRow("of the first clients") << QByteArray(R"(action="split into micro batches of at most 4")") << false;
  }
  void errorsThatSayNothingOfTheSize() {
    QFETCH(QByteArray, error);
    QFETCH(bool, fits);
    const ProgramRuns runs;
    run::RunSpec spec =
        runs.python("import batchscope\nrun = batchscope.start()\nrun.event('oom', " + error.toStdString() +
                    ")\nstep = 0\nwhile not run.stopping:\n" + "    step += 1\n    run.report(step, loss=1)\n");
    spec.program->command.push_back("{batch}");
    const search::Probe probe = ProcessTrial(spec, {}, {}).run({.batch = 8});
    QVERIFY2((probe.outcome == Outcome::fits) == fits, probe.message.c_str());
  }

  /// Lines that arrive together say nothing of the time of a step; those of a program that goes on do.
  void stepsThatCannotBeTimed() {
    const ProgramRuns runs;
    ProcessTrial burst(pretended("for i in range(6): print('loss', i)"), {}, {});
    QVERIFY(!burst.time(4));
    QVERIFY(burst.too_short());
    ProcessTrial silent(pretended("print('nothing that matches')"), {}, {});
    QVERIFY(!silent.time(4) && !silent.too_short());
    ProcessTrial goes_on(pretended(endless), {}, {});
    const auto stretch = goes_on.time(4);
    QVERIFY(stretch && stretch->step_seconds > 0);
    QVERIFY(!goes_on.too_short());
  }

  void noStepWithinTheBudget() {
    run::RunSpec spec = pretended("");
    spec.memory_budget = 300'000'000;
    ProcessTrial trial(spec, {}, {}, [](const run::RunSpec&, const Surroundings&) {
      return std::make_unique<FailedRun>(290'000'000, "exit status 1: SystemError");
    });
    QCOMPARE(trial.run({.batch = 4}).message,
             std::string("the program made no step within 300.0 MB (--memory-budget; its libraries count, too): exit "
                         "status 1: SystemError"));
    ProcessTrial small(spec, {}, {}, [](const run::RunSpec&, const Surroundings&) {
      return std::make_unique<FailedRun>(90'000'000, "exit status 1: KeyError");
    });
    QCOMPARE(small.run({.batch = 4}).message, std::string("exit status 1: KeyError"));
  }

  void aBatchSizeThatIsIgnored() {
    const ProgramRuns runs;
    run::RunSpec spec = pretended(R"(
held = bytearray(b'x') * (1 << 26)
while True:
    print('loss', b)
    time.sleep(0.001)
)"); // it lives until it has been looked at
    spec.max_batch = 8;
    const search::SearchResult result = find_batch(
        search_spec(spec), {}, {.strategy = "power", .start = 1, .timings = false, .on_timing = {}, .stop = {}}, {});
    QCOMPARE(result.largest.value(), 8);
    QVERIFY2(result.reason.find("does the program use {batch}?") != std::string::npos, result.reason.c_str());
  }

  void goodEnd() {
    QVERIFY(run_once(pretended("print('nothing that matches')")).outcome == Outcome::fits);
    QVERIFY(run_once(pretended("", "")).outcome == Outcome::fits);
  }

  /// Without steps: it fits when it has run for so long.
  void enoughSeconds() {
    run::RunSpec spec = pretended("time.sleep(1000)", "");
    spec.program->probe_seconds = 0.2;
    QVERIFY(run_once(spec).outcome == Outcome::fits);
  }

  void outOfMemory() {
    const search::Probe probe = run_once(pretended("raise MemoryError()"));
    QVERIFY(probe.outcome == Outcome::out_of_memory);
    QVERIFY(!probe.peak_bytes);
    run::RunSpec limited = pretended("held = bytearray(b << 20)");
    limited.memory_budget = 256 << 20;
    QVERIFY(run_once(limited, 1024).outcome == Outcome::out_of_memory);
    QVERIFY(run_once(limited, 4).outcome == Outcome::fits);
  }

  void error() {
    const search::Probe probe = run_once(pretended("raise KeyError('labels')"));
    QVERIFY(probe.outcome == Outcome::error);
    QCOMPARE(probe.message, std::string("exit status 1: KeyError: 'labels'"));
  }

  /// It ignores the requests to stop, and is killed.
  void stubbornProgram() {
    const search::Probe probe = run_once(
        pretended("import signal\nfor s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n" +
                  std::string(endless)));
    QVERIFY(probe.outcome == Outcome::fits);
  }

  /// A size that goes over the socket must have reached the program.
  void sizeThatDoesNotReachTheProgram_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("why");
    QTest::newRow("no client") << "print('loss 1', flush=True)\nwait_for('ever')"
                               << "does not connect";
    QTest::newRow("level 1") << "run = batchscope.start()\nrun.report(1, loss=1)\nwait_for('ever')"
                             << "only reports its steps";
  }
  void sizeThatDoesNotReachTheProgram() {
    QFETCH(QString, source);
    QFETCH(QString, why);
    const ProgramRuns runs;
    std::string program = batchscope::test::pretended_loader;
    program.erase(program.find("run = "));
    run::RunSpec spec = runs.python(program + source.toStdString());
    spec.program->attach = true;
    spec.program->metrics = {{"loss", "loss (\\S+)"}};
    std::string said;
    try {
      ProcessTrial(spec, {}, {}).run({.batch = 4});
    } catch (const Error& error) {
      said = error.what();
    }
    QVERIFY2(said.find(why.toStdString()) != std::string::npos, said.c_str());
    QVERIFY(said.find("put {batch} into its command") != std::string::npos);
  }

  /// A program over a stream takes its first size, and no other one later.
  void sizeOfAStream() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(pretended_stream);
    spec.program->attach = true;
    const search::Probe probe = ProcessTrial(spec, {}, {}).run({.batch = 4});
    QVERIFY2(probe.outcome == Outcome::fits, probe.message.c_str());
  }

  void otherSizeThanTheOneSent() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
Sizes.batch = property(lambda loader: 7, lambda loader, size: None)
loader = Sizes(run, 7, 1000)
while True:
    loader.fetch()
    run.step(loss=1)
)");
    spec.program->attach = true;
    const search::Probe probe = ProcessTrial(spec, {}, {}).run({.batch = 4});
    QVERIFY(probe.outcome == Outcome::error);
    QCOMPARE(probe.message, std::string("the program ran batch size 7 instead"));
    QVERIFY(ProcessTrial(spec, {}, {}).run({.batch = 7}).outcome == Outcome::fits);
  }

  void stopped() {
    const ProgramRuns runs;
    bool stop = false;
    ProcessTrial trial(pretended("print('loss 1')\ntime.sleep(1000)"), {}, [&] { return stop; });
    stop = true;
    QVERIFY_EXCEPTION_THROWN(trial.run({.batch = 4}), Error);
  }

  /// The search as `find` makes it: exact under a real limit.
  void searchIsExact() {
    const ProgramRuns runs;
    run::RunSpec spec = pretended(R"(
for step in range(3):
    if b > 21: raise MemoryError()
    held = bytearray(b << 20)
    print('loss', b)
)");
    spec.memory_budget = 1 << 30;
    const run::RunSpec searched = search_spec(spec);
    std::vector<search::Probe> seen;
    const search::SearchResult result =
        find_batch(searched, {}, {.strategy = "binary", .timings = false, .on_timing = {}, .stop = {}},
                   [&](const search::Probe& probe) { seen.push_back(probe); });
    QCOMPARE(result.largest.value(), 21);
    QVERIFY(result.largest_is_exact);
    QVERIFY(seen.size() >= result.probes.size());
    QCOMPARE(result.budget_bytes.value(), std::uint64_t{1} << 30);
  }

  void refusedSearches() {
    run::RunSpec spec = pretended("");
    spec.program->command = {"python3", "train.py"};
    QVERIFY_EXCEPTION_THROWN(search_spec(spec), Error);
    spec.program->attach = true;
    QVERIFY(search_spec(spec).memory_budget.value() > 0);
    spec.device = "cuda:0";
    QVERIFY(!search_spec(spec).memory_budget);
  }
};

BATCHSCOPE_TEST(TestProcessTrial)
#include "tst_process_trial.moc"
