#include <QTest>

#include "core/base/error.h"
#include "test_program.h"
#include "tests/core/program/program_kills.h"

using namespace batchscope;
using namespace batchscope::test;

/// A BatchScope that is killed leaves its program running, and the next one goes on with the same run.
class TestAdopt : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void noStepIsLostWhenBatchScopeIsKilled() { kill_batchscope(3, 1); }
  void noStepIsLostWhenTheProgramIsKilled() { kill_program(1); }

  void aProgramThatEndedAloneIsTakenInByTheNextRun() {
    const ProgramRuns runs;
    const std::string spec = run::to_json(runs.python(endless_reports), -1);
    std::filesystem::path output;
    {
      store::test::SecondProcess first({"--run", runs.file().string(), spec});
      output = output_of_first_run(runs);
      first.kill();
    }
    runs.allow("finish");
    const std::string uid = output.parent_path().filename().string();
    QVERIFY(wait_until([&] { return !program::program_lives(runs.file(), uid); }));
    ProgramJob next(runs, runs.command({"true"}));
    next.end();
    const Stored run(runs.file(), 1);
    QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("finished"));
    QCOMPARE(run.steps(), one_to(last_printed(output)));
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void editsHoldAfterAnAdoption() {
    const ProgramRuns runs;
    const std::string spec = run::to_json(runs.loader(R"(
batchscope.RECONNECT_EVERY = 0.01
loader = Sizes(run, 16, 1000)
while not os.path.exists(os.path.join(sys.argv[1], "finish")):
    loader.fetch()
    run.step(loss=1)
    print(run._step)
    time.sleep(0.001)
)"),
                                          -1);
    {
      store::test::SecondProcess first({"--run", runs.file().string(), spec});
      output_of_first_run(runs);
      {
        store::RunStore sender(runs.file());
        sender.send(1, {.verb = "edit", .detail_json = R"({"schedule": "constant", "batch": 40})"});
      }
      QVERIFY(wait_until([&] {
        const Stored run(runs.file(), 1);
        return !run.records.empty() && run.records.back().batch == 40;
      }));
      first.kill();
    }
    store::test::SecondProcess next({"--adopt", runs.file().string(), "1"});
    const std::size_t before = Stored(runs.file(), 1).records.size();
    QVERIFY(wait_until([&] { return Stored(runs.file(), 1).records.size() > before + 50; }));
    runs.allow("finish");
    QCOMPARE(next.wait(), 0);
    const Stored run(runs.file(), 1);
    QCOMPARE(run.records.back().batch, 40);
    QCOMPARE(run.steps(), one_to(static_cast<std::int64_t>(run.records.size())));
    QVERIFY(run.of("differs").empty());
  }

  void whatCannotBeAdoptedIsRefused() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.command({"true"}));
    job.end();
    QVERIFY_THROWS_EXCEPTION(Error, job::find_adoptable(runs.file(), 1));
    QVERIFY_THROWS_EXCEPTION(Error, job::find_adoptable(runs.file(), 2));
  }
};

BATCHSCOPE_TEST(TestAdopt, run_program_if_asked)
#include "tst_adopt.moc"
