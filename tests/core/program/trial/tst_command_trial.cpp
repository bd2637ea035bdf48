#include "core/program/trial/command_trial.h"
#include "core/program/trial/program_search.h"

#include <set>

#include <QTest>

#include "core/base/error.h"
#include "test_python.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::program;
using namespace batchscope::test;

namespace {

constexpr std::uint64_t model_bytes = 10'000'000;
constexpr std::uint64_t example_bytes = 64'000;
constexpr std::uint64_t budget_bytes = 59'985'000; ///< one more example needs more by over 0.1 %
/// The largest batch within it.
constexpr auto largest = static_cast<std::int64_t>((budget_bytes - model_bytes) / example_bytes);

/// A program with the size in its command and no loader, which only pretends: its steps need memory in proportion to
/// the batch, and it ends with an error above the limit. `EXTRA`: bytes that its list of allocations has too many.
const std::string pretended_loop = R"(
MODEL, EXAMPLE, EXTRA = 10_000_000, 64_000, 0

batchscope.Tracer = tracer(MODEL, lambda batch: [batch * EXAMPLE + EXTRA])
BATCH = int(sys.argv[2])
run._describe(can=("trace",))
run._memory.apply_limit = lambda: None
run._greet(wait=True)
limit = run._memory._wanted[0]
made = 0
while made < 10**9:
    run._account.model = True
    if limit and MODEL + BATCH * EXAMPLE > limit:
        raise MemoryError("out of memory")
    sum(range(20_000 + 100 * BATCH))
    run.step(loss=1)
    made += 1
)";

run::RunSpec in_command(const ProgramRuns& runs, std::pair<std::string, std::string> change = {}) {
  std::string source = pretended_loop;
  if (!change.first.empty())
    source.replace(source.find(change.first), change.first.size(), change.second);
  run::RunSpec spec = runs.loader(source);
  spec.program->command.push_back("{batch}");
  spec.program->attach = true;
  spec.memory_budget = budget_bytes;
  return spec;
}

search::SearchResult found(const run::RunSpec& spec, const run::Session::SearchOptions& options = {}) {
  return find_batch(search_spec(spec), {}, options, {});
}

std::set<std::int64_t> processes_of(const search::SearchResult& result) {
  std::set<std::int64_t> pids;
  for (const auto* probes : {&result.probes, &result.checks})
    for (const search::Probe& probe : *probes)
      pids.insert(*probe.pid);
  return pids;
}

} // namespace

/// Sizes in a command are tried in a process each, which says what it needs and how long it takes.
class TestCommandTrial : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void fourProcessesShowTheAnswer() {
    const ProgramRuns runs;
    const search::SearchResult result = found(in_command(runs));
    QCOMPARE(result.largest, std::optional(largest));
    QVERIFY(result.largest_is_exact);
    QVERIFY(result.safe.has_value());
    const std::uint64_t safe_bytes = model_bytes + static_cast<std::uint64_t>(*result.safe) * example_bytes;
    QVERIFY(safe_bytes <= budget_bytes * 8 / 10 && safe_bytes > budget_bytes * 7 / 10);
    QCOMPARE(result.probes.size() + result.checks.size(), std::size_t{4});
    QCOMPARE(processes_of(result).size(), std::size_t{4});
    for (const search::Probe& probe : result.probes) {
      QVERIFY(probe.outcome == search::Outcome::fits);
      QCOMPARE(probe.peak_bytes, std::optional(model_bytes + static_cast<std::uint64_t>(probe.batch) * example_bytes));
    }
    QCOMPARE(result.timings.size(), std::size_t{4});
    QVERIFY(result.recommended || !result.reason.empty());
    QCOMPARE(runs.sockets_left(), 0U);
  }

  /// The list has 32 kB more than the process needs: the largest size is predicted not to fit, by little.
  void aNearPredictionIsChecked() {
    const ProgramRuns runs;
    const search::SearchResult result =
        found(in_command(runs, {"EXTRA = 10_000_000, 64_000, 0", "EXTRA = 10_000_000, 64_000, 32_000"}));
    QCOMPARE(result.largest, std::optional(largest));
    QVERIFY(result.largest_is_exact);
  }

  /// On a pretended GPU nothing else would keep it from taking all of the machine.
  void aProgramThatTakesTooMuchOfTheMachineIsEnded() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import time; time.sleep(600)");
    spec.program->command.push_back("{batch}");
    spec.program->attach = true;
    const Surroundings surroundings{.on_pretended_gpu = true, .host_limit = 4'000'000};
    try {
      open_command_trial(search_spec(spec), surroundings, {}, 8);
      QFAIL("it went on");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains("of this machine's memory and was ended at 4.0 MB"), error.what());
    }
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void theStartIsTheFirstSize() {
    const ProgramRuns runs;
    const search::SearchResult result = found(in_command(runs), {.start = 100});
    QCOMPARE(result.probes.front().batch, 100);
    QCOMPARE(result.largest, std::optional(largest));
  }

  void aFirstSizeThatDoesNotFitIsNoEnd() {
    const ProgramRuns runs;
    const search::SearchResult result = found(in_command(runs), {.start = 4000});
    QCOMPARE(result.probes.front().batch, 4000);
    QVERIFY(result.probes.front().outcome == search::Outcome::out_of_memory);
    QCOMPARE(result.largest, std::optional(largest));
  }

  /// It makes a step or two, lists nothing, or does not connect: its sizes are tried from outside.
  void otherProgramsAreNotTriedHere_data() {
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("other");
    QTest::newRow("ends") << "made < 10**9"
                          << "made < 2";
    QTest::newRow("lists nothing") << R"(can=("trace",))"
                                   << R"(can=("first batch",))";
    QTest::newRow("fails") << "MODEL, EXAMPLE"
                           << "raise ValueError('no data')\nMODEL, EXAMPLE";
  }
  void otherProgramsAreNotTriedHere() {
    QFETCH(QString, part);
    QFETCH(QString, other);
    const ProgramRuns runs;
    const run::RunSpec spec = search_spec(in_command(runs, {part.toStdString(), other.toStdString()}));
    QVERIFY(open_command_trial(spec, {}, {}, 16) == nullptr);
    QCOMPARE(runs.sockets_left(), 0U);
  }

  /// Whoever prints steps and does not connect is not waited for.
  void aProgramThatOnlyPrintsIsSeenAtOnce() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import time\nwhile True:\n    print('loss 1')\n    time.sleep(0.01)\n");
    spec.program->command.push_back("{batch}");
    spec.program->attach = true;
    spec.program->metrics = {{"loss", "loss ([0-9]+)"}};
    spec.program->probe_seconds = 600; // longer than the test may take
    QVERIFY(open_command_trial(search_spec(spec), {}, {}, 16) == nullptr);
  }

  /// Some sizes fail for another reason than memory: an odd one in a program that mixes pairs.
  void aSizeThatFailsIsLeftOut() {
    const ProgramRuns runs;
    const search::SearchResult result =
        found(in_command(runs, {"BATCH = int(sys.argv[2])", "BATCH = int(sys.argv[2])\nassert BATCH % 2 == 0"}));
    QVERIFY(result.largest.has_value());
    QCOMPARE(*result.largest % 2, 0);
    QVERIFY(!result.left_out.empty());
  }

  void aStopEndsIt() {
    const ProgramRuns runs;
    int asked = 0;
    run::Session::SearchOptions options;
    options.stop = [&asked] { return ++asked > 20; };
    bool stopped = false;
    try {
      stopped = found(in_command(runs), options).interrupted;
    } catch (const Error& error) {
      stopped = std::string(error.what()) == "stopped";
    }
    QVERIFY(stopped);
    QCOMPARE(runs.sockets_left(), 0U);
  }
};

BATCHSCOPE_TEST(TestCommandTrial)
#include "tst_command_trial.moc"
