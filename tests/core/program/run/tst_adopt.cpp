#include <QTest>

#include "core/base/error.h"
#include "core/base/process_file.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
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

  void theHighestRateIsKept() {
    const ProgramRuns runs;
    const std::string spec = run::to_json(runs.loader(R"(
batchscope.RECONNECT_EVERY = 0.01
for step, rate in enumerate([0.1, 0.5, 0.2], 1):
    run.report(step, learning_rate=rate)
print(3)
wait_for("finish")
run.report(4, learning_rate=0.3)
)"),
                                          -1);
    {
      store::test::SecondProcess first({"--run", runs.file().string(), spec});
      output_of_first_run(runs);
      QVERIFY(wait_until([&] { return Stored(runs.file(), 1).records.size() == 3; }));
      first.kill();
    }
    store::test::SecondProcess next({"--adopt", runs.file().string(), "1"});
    runs.allow("finish");
    QCOMPARE(next.wait(), 0);
    const Stored run(runs.file(), 1);
    QCOMPARE(run.steps(), one_to(4));
    QCOMPARE(store::RunReader(runs.file()).run(1).settings.learning_rate, std::optional(0.5));
  }

  /// As programs that show another name do (setproctitle).
  void aProgramThatOverwritesItsEnvironmentIsAdopted() {
    const ProgramRuns runs;
    std::string source = endless_reports;
    source.insert(source.find("step = 0"), R"(
import ctypes
fields = open("/proc/self/stat").read().rsplit(')', 1)[1].split()
start, end = int(fields[47]), int(fields[48])
ctypes.memset(start, 0, end - start)
)");
    std::filesystem::path output;
    {
      store::test::SecondProcess first({"--run", runs.file().string(), run::to_json(runs.python(source), -1)});
      output = output_of_first_run(runs);
      first.kill();
    }
    const std::string uid = output.parent_path().filename().string();
    QVERIFY(program::program_lives(runs.file(), uid));
    store::test::SecondProcess next({"--adopt", runs.file().string(), "1"});
    const std::int64_t before = last_printed(output);
    QVERIFY(wait_until([&] { return Stored(runs.file(), 1).row.outcome.steps > before; }));
    runs.allow("finish");
    QCOMPARE(next.wait(), 0);
    const Stored run(runs.file(), 1);
    QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("finished"));
    QCOMPARE(run.steps(), one_to(last_printed(output)));
  }

  /// A file of the program is read on from where it was when the program began.
  void aFileOfTheProgramIsReadOn() {
    const ProgramRuns runs;
    std::ofstream(runs.path("log.csv")) << "step,loss,score\n1,9,9\n1000000,9,9\n";
    run::RunSpec spec = runs.python(R"(
import os, sys, time
step = 0
with open(os.path.join(sys.argv[1], "log.csv"), "a") as log:
    while not os.path.exists(os.path.join(sys.argv[1], "finish")):
        step += 1
        log.write("%d,%r,%d\n" % (step, 1 / step, step))
        log.flush()
        print(step)
        time.sleep(0.001)
)");
    spec.program->reads = {"csv:" + runs.path("log.csv").string()};
    std::filesystem::path output;
    {
      store::test::SecondProcess first({"--run", runs.file().string(), run::to_json(spec, -1)});
      output = output_of_first_run(runs);
      QVERIFY(wait_until([&] { return !Stored(runs.file(), 1).records.empty(); }));
      first.kill();
    }
    const std::int64_t before = last_printed(output);
    QVERIFY(wait_until([&] { return last_printed(output) > before + 10; }));
    runs.allow("finish");
    QCOMPARE(store::test::SecondProcess({"--adopt", runs.file().string(), "1"}).wait(), 0);
    const Stored run(runs.file(), 1);
    const std::int64_t last = last_printed(output);
    QCOMPARE(run.steps(), one_to(last));
    for (const telemetry::StepRecord& record : run.records)
      QCOMPARE(record.loss, 1 / static_cast<double>(record.step));
    const auto scores = store::RunReader(runs.file()).series(1, "score");
    QCOMPARE(static_cast<std::int64_t>(scores.size()), last);
    for (const store::Point& point : scores)
      QCOMPARE(point.value, static_cast<double>(point.step));
  }

  /// Whenever it is killed, the outcome is not lost.
  void aRunWhoseOutcomeWasNotStoredAnyMoreIsTakenIn() {
    const ProgramRuns runs;
    const std::string spec = run::to_json(runs.command({"/bin/sh", "-c", "echo the last line; exit 3"}), -1);
    QCOMPARE(store::test::SecondProcess({"--die", runs.file().string(), spec}).wait(), 128 + SIGKILL);
    QCOMPARE(telemetry::to_string(Stored(runs.file(), 1).row.outcome.status), std::string("interrupted"));
    ProgramJob next(runs, runs.command({"true"}));
    next.end();
    const Stored run(runs.file(), 1);
    QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("failed"));
    QCOMPARE(run.row.outcome.reason, std::string("exit status 3: the last line"));
    QCOMPARE(run.of("exit").size(), 1U);
    QVERIFY(!program::is_left(runs.file(), run.row.uid));
  }

  /// Only the process that has started a program hears its exit status.
  void theEndOfAProgramThatSaysNothingIsNotKnown() {
    const ProgramRuns runs;
    const std::string spec = run::to_json(
        runs.command({"/bin/sh", "-c", "echo 1; while [ ! -e \"$0/finish\" ]; do sleep 0.01; done; echo all saved",
                      runs.path("").string()}),
        -1);
    store::test::SecondProcess first({"--run", runs.file().string(), spec});
    QVERIFY(!output_of_first_run(runs).empty());
    first.kill();
    first.wait();
    runs.allow("finish");
    QCOMPARE(store::test::SecondProcess({"--adopt", runs.file().string(), "1"}).wait(), 0);
    const Stored run(runs.file(), 1);
    QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("interrupted"));
    QVERIFY2(run.row.outcome.reason.starts_with("its exit status is not known"), run.row.outcome.reason.c_str());
    QVERIFY2(run.row.outcome.reason.ends_with("all saved"), run.row.outcome.reason.c_str());
    QCOMPARE(run.of("exit").size(), 1U);
    QVERIFY(!program::is_left(runs.file(), run.row.uid));
  }

  void aRunWhoseOutcomeIsStoredIsTidied() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.loader("run.report(1, loss=1)\nwait_for('end')"));
    job.wait_for_step(1);
    const std::string uid = Stored(runs.file(), 1).row.uid;
    const std::filesystem::path note = program::folder_of_program(runs.file(), uid) / "process.json";
    std::filesystem::copy_file(note, runs.path("kept"));
    runs.allow("end");
    job.end();
    QVERIFY(!std::filesystem::exists(note));
    std::filesystem::copy_file(runs.path("kept"), note);
    QVERIFY_THROWS_EXCEPTION(Error, job::find_adoptable(runs.file(), 1));
    ProgramJob next(runs, runs.command({"true"}));
    next.end();
    QVERIFY(!std::filesystem::exists(note));
    const Stored run(runs.file(), 1);
    QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("finished"));
    QCOMPARE(run.of("exit").size(), 1U);
  }

  /// What a search was trying when it was killed is ended and removed by the next start, and nothing else is.
  void aKilledSearchLeavesNothing_data() {
    QTest::addColumn<bool>("live");
    QTest::newRow("a process for each size") << false;
    QTest::newRow("one process") << true;
  }
  void aKilledSearchLeavesNothing() {
    QFETCH(bool, live);
    const ProgramRuns runs;
    const QTemporaryDir temporary;
    qputenv("TMPDIR", temporary.path().toUtf8());
    // By another program, as what Python writes in a search is thrown away.
    run::RunSpec spec = runs.python("import os, subprocess, sys, time\n"
                                    "write = 'cd \"$1\" && echo $2 > pid.part && mv pid.part pid'\n"
                                    "subprocess.run(['sh', '-c', write, 'sh', sys.argv[1], str(os.getpid())])\n"
                                    "time.sleep(1000)");
    spec.program->attach = live;
    if (!live)
      spec.program->command.emplace_back("{batch}");
    {
      store::test::SecondProcess first({"--find", run::to_json(spec, -1)});
      QVERIFY(wait_until([&] { return std::filesystem::exists(runs.path("pid")); }));
      first.kill();
    }
    pid_t pid = 0;
    std::ifstream(runs.path("pid")) >> pid;
    const auto lives = [pid] {
      const auto stat = process_stat(std::to_string(pid));
      return stat && !stat->has_ended();
    };
    QVERIFY(lives());
    ProgramJob other(runs, runs.loader("run.report(1, loss=1)\nwait_for('end')"));
    other.wait_for_step(1);
    QVERIFY(wait_until([&] { return !lives(); }));
    QVERIFY(std::filesystem::is_empty(temporary.path().toStdString()));
    QCOMPARE(runs.sockets_left(), 1U); // of the run that goes on
    qunsetenv("TMPDIR");
    runs.allow("end");
    QCOMPARE(telemetry::to_string(other.end().status), std::string("finished"));
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
