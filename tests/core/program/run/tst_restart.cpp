#include "core/job/run_program.h"
#include "core/store/run_store.h"

#include <QTest>

#include "core/base/error.h"
#include "core/telemetry/english.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::test;

namespace {

/// Fails in its third step with more than 30 examples, which come by its command.
const std::string too_large_for_long = R"(
import batchscope, sys
run = batchscope.start()
batch = int(sys.argv[2])
run._watched_batch = batch
for step in range(6):
    if step == 2 and batch > 30:
        raise MemoryError("out of memory")
    run.step(loss=1)
)";

/// Follows sizes, and has no room for more than 30 examples.
const std::string follows = R"(
loader = Sizes(run, OWN, 1000)
for step in range(12):
    takes = loader.fetch()
    if takes[0] > 30:
        raise MemoryError("out of memory")
    run.step(loss=1)
)";

class Quiet final : public job::Watch {};

struct Ended {
  job::JobResult job;
  std::int64_t runs = 0;
};

Ended ended(const ProgramRuns& runs, const run::RunSpec& spec) {
  store::RunStore store(runs.file());
  Quiet watch;
  Ended ended;
  ended.job = job::run_program(spec, {}, store, watch, std::make_shared<run::JobControl>()).job;
  ended.runs = ended.job.id; // they are numbered
  return ended;
}

run::RunSpec in_command(const ProgramRuns& runs, std::int64_t batch, run::OnOom on_oom) {
  run::RunSpec spec = runs.python(too_large_for_long);
  spec.program->command.push_back("{batch}");
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = batch};
  spec.on_oom = on_oom;
  return spec;
}

run::RunSpec that_follows(const ProgramRuns& runs, const std::string& own) {
  std::string source = follows;
  source.replace(source.find("OWN"), 3, own);
  run::RunSpec spec = runs.loader(source);
  spec.program->attach = true;
  spec.on_oom = run::OnOom::restart;
  return spec;
}

std::string told(const ProgramRuns& runs, const Ended& ended) {
  for (const telemetry::Event& event : Stored(runs.file(), ended.job.id).events)
    if (const auto* lint = std::get_if<telemetry::Lint>(&event.body))
      return telemetry::english(lint->reason);
  return {};
}

} // namespace

/// A program that had no memory left is started again with a smaller batch, if that was asked for.
class TestRestart : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void theBatchIsHalvedUntilItFits() {
    const ProgramRuns runs;
    const Ended last = ended(runs, in_command(runs, 100, run::OnOom::restart));
    QVERIFY(last.job.outcome.status == telemetry::RunStatus::finished);
    QCOMPARE(last.runs, 3);
    QCOMPARE(last.job.start.batch, 25);
    QCOMPARE(
        told(runs, last),
        std::string("run 2 ran out of memory with a batch of 50 and is started again with 25: steps 1 to 2 are made "
                    "again"));
  }

  void noneIsStartedAgainOtherwise() {
    const ProgramRuns runs;
    for (const run::OnOom choice : {run::OnOom::shrink, run::OnOom::fail}) {
      const Ended last = ended(runs, in_command(runs, 100, choice));
      QVERIFY(last.job.outcome.status == telemetry::RunStatus::failed);
      QCOMPARE(last.job.start.batch, 100);
    }
    QCOMPARE(ended(runs, in_command(runs, 20, run::OnOom::restart)).runs, 3); // the two before, and this
  }

  void otherErrorsAreNoReason() {
    const ProgramRuns runs;
    run::RunSpec spec = in_command(runs, 100, run::OnOom::restart);
    std::string& source = spec.program->command.at(2);
    source.replace(source.find("MemoryError"), 11, "ValueError ");
    source.replace(source.find("out of memory"), 13, "no such data");
    QCOMPARE(ended(runs, spec).runs, 1);
  }

  void theProgramsOwnSizeIsMadeSmaller() {
    const ProgramRuns runs;
    const Ended last = ended(runs, that_follows(runs, "64"));
    QVERIFY2(last.job.outcome.status == telemetry::RunStatus::finished, last.job.outcome.reason.c_str());
    QCOMPARE(last.runs, 3); // 64, 32, 16
    QCOMPARE(last.job.start.batch, 16);
  }

  /// It grows to a size that does not fit: the next run ends its growth before.
  void aScheduleKeepsToWhatHasFitted() {
    const ProgramRuns runs;
    run::RunSpec spec = that_follows(runs, "8");
    spec.schedule = "formula:batch+8";
    const Ended last = ended(runs, spec);
    QVERIFY2(last.job.outcome.status == telemetry::RunStatus::finished, last.job.outcome.reason.c_str());
    QCOMPARE(last.runs, 2);
    const Stored stored(runs.file(), last.job.id);
    QCOMPARE(stored.records.front().batch, Stored(runs.file(), 1).records.front().batch);
    QCOMPARE(stored.records.back().batch, 24);
    QCOMPARE(stored.records.size(), std::size_t{12});
  }

  void aProgramThatTakesNoSizeIsRefused() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"true"});
    spec.on_oom = run::OnOom::restart;
    QVERIFY_EXCEPTION_THROWN(program::open_program(spec), Error);
  }
};

BATCHSCOPE_TEST(TestRestart)
#include "tst_restart.moc"
