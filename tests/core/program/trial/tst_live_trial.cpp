#include "core/program/trial/live_trial.h"
#include "core/program/trial/program_search.h"

#include <cmath>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "core/program/trial/program_estimate.h"
#include "core/search/run_search.h"
#include "test_python.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::program;
using namespace batchscope::test;

namespace {

constexpr std::uint64_t bytes_of_the_model = 10'000'000;
constexpr std::uint64_t bytes_of_an_example = 64'000;

/// A program of level 3 that only pretends: its steps need memory in proportion to the batch, and fail above the limit.
const std::string pretended_level_3 = R"(
import types
MODEL, EXAMPLE = 10_000_000, 64_000

batchscope.Tracer = tracer(MODEL, lambda batch: [batch * EXAMPLE, 640])
loader = Sizes(run, 8, 5000)
run._estimator = lambda batches: [[batch, MODEL + batch * EXAMPLE, {"parameters": MODEL}] for batch in batches]
made = 0
while made < LAST:
    takes = loader.fetch()
    sum(range(100_000))  # some milliseconds of work: no real step is free, and one that is reports faster than we read
    run._account.model = True
    run._describe(can=("split", "trace", "estimate"))
    limit = run._memory._wanted[0] if run._memory._wanted else None
    if limit and MODEL + takes[0] * EXAMPLE + 640 > limit:
        if run._probe is not None:
            run._probe.fits = False
        run.event("oom", attempted_batch=takes[0], action="split into micro batches")
    run._memory.apply_limit = lambda: None
    run.step(loss=1)
    made += 1
)";

run::RunSpec spec_of(const ProgramRuns& runs, const std::string& last, const std::string& before = {}) {
  std::string source = before + pretended_level_3;
  source.replace(source.find("LAST"), 4, last);
  run::RunSpec spec = runs.loader(source);
  spec.program->attach = true;
  return spec;
}

search::SearchResult find(LiveTrial& trial, std::uint64_t budget) {
  const search::FinderOptions options{.max_batch = 5000, .budget_bytes = budget};
  const auto finder = search::make_finder("predictive", options);
  return search::run_search(*finder, trial, options);
}

std::string why_refused(const run::RunSpec& spec) {
  try {
    open_live_trial(spec, {}, {});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

int failed(const search::SearchResult& result) {
  int count = 0;
  for (const search::Probe& probe : result.probes)
    count += probe.outcome == search::Outcome::out_of_memory ? 1 : 0;
  return count;
}

} // namespace

/// One program tries all sizes of a search, and estimates the memory of steps that it does not run.
class TestLiveTrial : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void findsTheLargestInOneProcess() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9");
    spec.memory_budget = 60'000'000;
    const auto [trial, examples] = open_live_trial(spec, {}, {});
    QVERIFY(trial != nullptr);
    QCOMPARE(examples, std::optional<std::int64_t>(5000));
    const search::SearchResult result = find(*trial, *spec.memory_budget);
    const auto largest =
        static_cast<std::int64_t>((*spec.memory_budget - bytes_of_the_model - 640) / bytes_of_an_example);
    QCOMPARE(result.largest, std::optional(largest));
    QVERIFY(result.largest_is_exact);
    QVERIFY(failed(result) <= 1);
    for (const search::Probe& probe : result.probes) {
      QCOMPARE(probe.pid, result.probes.front().pid);
      QCOMPARE(probe.how, std::string("live"));
    }
    QVERIFY(trial->time(8).has_value());
  }

  void findsTheSizeOfTheEvaluation() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9", R"(
class Evaluation:
    examples, unseen = 300, 7
    def open(self):
        pass
    def run(self, size, begin=lambda part, size: None):
        begin(None, 0)
        if size * 250_000 > 50_000_000:
            raise MemoryError
run._can_evaluate(Evaluation())
)");
    spec.memory_budget = 60'000'000;
    const search::SearchResult result = find_batch(search_spec(spec), {}, {.timings = false, .evaluation = true}, {});
    QVERIFY(result.evaluation != nullptr);
    QCOMPARE(result.evaluation->largest, std::optional<std::int64_t>(200));
    QVERIFY(result.evaluation->largest_is_exact);
    QVERIFY(result.evaluation->safe.has_value() && !result.evaluation->recommended);
    QVERIFY2(result.evaluation->reason.find("7 of its examples were not inspected") != std::string::npos,
             result.evaluation->reason.c_str());
    for (const search::Probe& probe : result.evaluation->probes)
      QCOMPARE(probe.how, std::string("evaluation"));
  }

  /// Ended by the user, or by the program itself.
  void whatWasFoundStaysIfTheEvaluationEndsEarly_data() {
    QTest::addColumn<bool>("stopped");
    QTest::newRow("stopped") << true;
    QTest::newRow("the program ends") << false;
  }
  void whatWasFoundStaysIfTheEvaluationEndsEarly() {
    QFETCH(bool, stopped);
    const ProgramRuns runs;
    const QTemporaryDir folder;
    const std::string file = folder.filePath("evaluates").toStdString();
    run::RunSpec spec = spec_of(runs, "10**9", R"(
import subprocess, time
class Evaluation:
    examples, unseen = 300, 0
    def open(self):
        subprocess.run(["touch", ")" + file + R"("])  # what Python writes is thrown away
        if STOPPED:
            time.sleep(60)
        raise SystemExit(3)
run._can_evaluate(Evaluation())
STOPPED = )" + (stopped ? "True" : "False") + "\n");
    spec.memory_budget = 60'000'000;
    run::Session::SearchOptions options{.timings = false, .evaluation = true};
    options.stop = [&] { return stopped && QFile::exists(QString::fromStdString(file)); };
    const search::SearchResult result = find_batch(search_spec(spec), {}, options, {});
    QVERIFY(result.found && result.largest && result.safe);
    QCOMPARE(result.interrupted, stopped);
    QVERIFY(result.evaluation != nullptr && !result.evaluation->largest);
    QCOMPARE(result.evaluation->interrupted, stopped);
    QVERIFY(!result.evaluation->reason.empty());
  }

  void aProgramWithoutAnEvaluationIsRefused() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9");
    spec.memory_budget = 60'000'000;
    QVERIFY_EXCEPTION_THROWN(find_batch(search_spec(spec), {}, {.evaluation = true}, {}), Error);
  }

  void whatTheProcessNeedsBesidesIsNotForTensors() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9", "run._budget.begin_probe = lambda: 40_000_000\n");
    spec.memory_budget = 60'000'000;
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    QCOMPARE(trial->budget_bytes(), std::optional<std::uint64_t>(40'000'000 + bytes_of_the_model));
    QVERIFY(trial->run({.batch = 600}).outcome == search::Outcome::fits);
  }

  /// With batch norm, single examples may fail: neither a size that was tried nor one that is timed leaves one over.
  void sizesThatLeaveASingleExampleAreLeftOut() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9", R"(
describe = run._describe
run._describe = lambda can=(), **fields: describe(can=can, **{**fields, "batch_norm": True})
fetch = Sizes.fetch
def fetch_or_fail(loader):
    takes = fetch(loader)
    if takes == [1]:
        raise ValueError("expected more than 1 value per channel")
    return takes
Sizes.fetch = fetch_or_fail
)");
    spec.memory_budget = 60'000'000;
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    QVERIFY(!trial->time(4999)); // of 5,000 examples
    QVERIFY(trial->time(8).has_value());
    const search::Probe probe = trial->run({.batch = 4999});
    QVERIFY(probe.outcome == search::Outcome::error);
    QVERIFY2(probe.message.find("expected more than 1 value") != std::string::npos, probe.message.c_str());
    QVERIFY(trial->run({.batch = 500}).outcome == search::Outcome::fits);
  }

  /// Whose passes are longer than its loader's length, while it is tried. Another error stays one.
  void aProgramThatFailsHasPassesOfItsOwnLength() {
    const ProgramRuns runs;
    for (const bool own : {true, false}) {
      run::RunSpec spec = spec_of(runs, "10**9",
                                  own ? R"(
fetch = Sizes.fetch
def fetch_or_fail(loader):
    if run._probe is not None and os.environ.get("BATCHSCOPE_PASSES") != "own":
        raise ZeroDivisionError
    return fetch(loader)
Sizes.fetch = fetch_or_fail
)"
                                      : R"(
fetch = Sizes.fetch
def fetch_or_fail(loader):
    if run._probe is not None:
        raise ZeroDivisionError
    return fetch(loader)
Sizes.fetch = fetch_or_fail
)");
      spec.memory_budget = 60'000'000;
      const auto trial = open_live_trial(spec, {}, {}).trial;
      QVERIFY(trial != nullptr);
      const search::Probe probe = trial->run({.batch = 100});
      QCOMPARE(probe.outcome == search::Outcome::fits, own);
      QCOMPARE(probe.message.find("ZeroDivisionError") == std::string::npos, own);
    }
  }

  void aProgramThatIsThroughIsStartedAgain() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "9");
    spec.memory_budget = 60'000'000;
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    const search::SearchResult result = find(*trial, *spec.memory_budget);
    QVERIFY(result.found && result.largest_is_exact);
  }

  /// It makes 60 steps, and 96 are timed. Between questions it trains slowly, so that a late one is still in time.
  void timesGoOnWhenTheProgramIsThrough() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "60", R"(
import time
step = run.step
run.step = lambda **values: (time.sleep(0 if run._probe else 0.05), step(**values))
)");
    spec.memory_budget = 60'000'000;
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    for (int round = 0; round < 8; ++round)
      for (const std::int64_t batch : {8, 500, 700})
        QVERIFY2(trial->time(batch).has_value(), qPrintable(QString::number(batch)));
    // 900 needs more than the budget: the process that is timed has none.
    QVERIFY(trial->time(900).has_value());
    QVERIFY(trial->run({.batch = 900}).outcome == search::Outcome::out_of_memory);
  }

  /// What is done between two sizes, and with the first step of one, takes seconds; a step takes milliseconds.
  void theTimeIsThatOfLaterSteps() {
    const ProgramRuns runs;
    const auto trial = open_live_trial(spec_of(runs, "10**9", R"(
import time
run._budget.begin_probe = lambda: time.sleep(2)
last = []
def slow_at_first():
    size = run._loader.batch
    if run._probe is not None and last[-1:] != [size]:
        time.sleep(2)
    last.append(size)
step = run.step
run.step = lambda **values: (slow_at_first(), step(**values))
)"),
                                       {}, {})
                           .trial;
    QVERIFY(trial != nullptr);
    const auto stretch = trial->time(8);
    QVERIFY(stretch.has_value());
    QVERIFY2(stretch->step_seconds < 0.5, qPrintable(QString::number(stretch->step_seconds)));
  }

  void aProgramThatCannotSplitIsNotTriedLive() {
    const ProgramRuns runs;
    run::RunSpec spec =
        runs.loader("loader = Sizes(run, 8, 100)\nwhile True:\n    loader.fetch()\n    run.step(loss=1)\n");
    const OpenedTrial opened = open_live_trial(spec, {}, {});
    QVERIFY(opened.trial == nullptr);
    QCOMPARE(opened.examples, std::optional<std::int64_t>(100));
  }

  void aProgramThatTakesNoSizeIsRefused_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("why");
    QTest::newRow("ends") << ""
                          << "it only reports its steps; put {batch} into its command";
    QTest::newRow("reports") << "run.report(1, loss=1)\nwait_for('ever')"
                             << "it only reports its steps; put {batch} into its command";
    QTest::newRow("fails") << "raise ValueError('no data')"
                           << "the program failed: exit status 1: ValueError: no data";
  }
  void aProgramThatTakesNoSizeIsRefused() {
    QFETCH(QString, source);
    QFETCH(QString, why);
    const ProgramRuns runs;
    const std::string said = why_refused(runs.loader(source.toStdString()));
    QVERIFY2(said.find(why.toStdString()) != std::string::npos, said.c_str());
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void aProgramThatDoesNotConnectIsRefused() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"sleep", "1000"});
    spec.program->probe_seconds = 0.1;
    QVERIFY(why_refused(spec).starts_with("the program takes no batch size: it has not connected in 0.1 s"));
    QVERIFY(why_refused(runs.command({"true"})).find("does not connect") != std::string::npos);
  }

  /// Nothing is waited for without an end.
  void aProgramThatMakesNoStepIsGivenUp() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader("while True:\n    run.event('busy')\n    time.sleep(0.001)");
    spec.program->probe_seconds = 0.5;
    QVERIFY(why_refused(spec).find("--probe-seconds") != std::string::npos);
  }

  void aProgramThatDoesNotAnswerIsGivenUp() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9");
    spec.program->command.at(2).insert(spec.program->command.at(2).find("made = 0"),
                                       "run._take_estimate = lambda message: None\n");
    spec.program->probe_seconds = 0.5;
    std::string said;
    try {
      estimate_program(spec, {}, {8}, {});
    } catch (const Error& error) {
      said = error.what();
    }
    QVERIFY2(said.find("--probe-seconds") != std::string::npos, said.c_str());
  }

  void aSizeThatIsNotTheOneAskedForFitsNothing() {
    const ProgramRuns runs;
    run::RunSpec spec = spec_of(runs, "10**9");
    spec.program->command.at(2).insert(spec.program->command.at(2).find("made = 0"), R"(
event = run.event
run.event = lambda kind, **detail: event(kind, **({**detail, "taken": 5} if kind == "probe" else detail))
)");
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    const search::Probe probe = trial->run({.batch = 64});
    QVERIFY(probe.outcome == search::Outcome::error);
    QCOMPARE(probe.message, std::string("the program ran batch size 5 instead"));
  }

  void stopsWhenAskedTo() {
    const ProgramRuns runs;
    QVERIFY_THROWS_EXCEPTION(Error, open_live_trial(runs.command({"sleep", "600"}), {}, [] { return true; }));
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void estimatesWithoutRunning() {
    const ProgramRuns runs;
    const EstimateMessage estimate = estimate_program(spec_of(runs, "10**9"), {}, {8, 16}, {});
    QCOMPARE(estimate.method, std::string("fake"));
    QCOMPARE(estimate.curve.size(), 2U);
    QCOMPARE(estimate.curve[1].peak_bytes, bytes_of_the_model + 16 * bytes_of_an_example);
    QCOMPARE(largest_within(estimate, bytes_of_the_model + 100 * bytes_of_an_example + 5),
             std::optional<std::int64_t>(100));
    QCOMPARE(largest_within(estimate, 1000), std::optional<std::int64_t>(0));
  }

  void saysWhyThereIsNoEstimate() {
    const ProgramRuns runs;
    QVERIFY_THROWS_EXCEPTION(Error, estimate_program(runs.command({"true"}), {}, {8}, {}));
    QVERIFY_THROWS_EXCEPTION(Error, estimate_program(runs.loader("run.report(1, loss=1)"), {}, {8}, {}));
  }

  void theLargestOfARealTrainerIsExact() {
    BATCHSCOPE_NEEDS_PYTHON();
    const ProgramRuns runs;
    run::RunSpec spec = runs.command(
        {test::test_python().toStdString(), BATCHSCOPE_SOURCE_DIR "/examples/hf_trainer.py", "--epochs", "1000"});
    spec.program->attach = true;
    spec.memory_budget = 60'000'000;
    const auto trial = open_live_trial(spec, {}, {}).trial;
    QVERIFY(trial != nullptr);
    const search::SearchResult result = find(*trial, *trial->budget_bytes());
    QVERIFY(result.found && result.largest_is_exact);
    QVERIFY2(failed(result) <= 1, search::to_json(result).c_str());
    const search::Probe one_more = trial->run({.batch = *result.largest + 1});
    QVERIFY(one_more.outcome == search::Outcome::out_of_memory);
  }
};

BATCHSCOPE_TEST(TestLiveTrial)
#include "tst_live_trial.moc"
