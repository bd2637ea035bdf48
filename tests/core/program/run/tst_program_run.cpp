#include <csignal>

#include <QTest>

#include "core/base/error.h"
#include "core/program/protocol/link.h"
#include "core/store/run_reader.h"
#include "core/telemetry/message.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::test;
using telemetry::RunStatus;

namespace {

Stored stored(const ProgramRuns& runs, const ProgramJob& job) {
  return {runs.file(), job.result.id};
}

} // namespace

/// Programs of plain Python, run and stored as jobs: what they report, how they are steered and how they end.
class TestProgramRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void seriesOfTheOutputBecomeRecords() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"/bin/sh", "-c", "for i in 1 2 3; do echo loss=0.$i; done"});
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(3));
    QCOMPARE(run.records.back().loss, 0.3);
    QVERIFY(run.of("exit").at(0)["exit_code"] == Json(0));
    QVERIFY(run.start.program && run.start.program->level == 0);
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void aFailureKeepsTheEndOfTheOutput() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python("print('before'); raise ValueError('no such data')"));
    const telemetry::RunOutcome outcome = job.end();
    QCOMPARE(telemetry::to_string(outcome.status), std::string("failed"));
    QVERIFY(outcome.reason.find("no such data") != std::string::npos);
    QVERIFY(stored(runs, job).of("output").at(0)["tail"].get<std::string>().find("before") != std::string::npos);
  }

  /// Its interpreter and libraries are no peak of a step, which others of a sweep have.
  void anAttachedProgramWithoutAStepHasNoPeak() {
    const ProgramRuns runs;
    for (const bool attach : {false, true}) {
      run::RunSpec spec = runs.python("import time; time.sleep(0.5); raise ValueError('no rate')");
      spec.program->attach = attach;
      ProgramJob job(runs, spec);
      QCOMPARE(job.end().peak_bytes > 0, !attach);
    }
  }

  void aCommandThatDoesNotExistIsRefused() {
    const ProgramRuns runs;
    QVERIFY_EXCEPTION_THROWN(program::open_program(runs.command({"no-such-command"})), Error);
    run::RunSpec elsewhere = runs.command({"true"});
    elsewhere.program->folder = runs.path("missing").string();
    QVERIFY_EXCEPTION_THROWN(program::open_program(elsewhere), Error);
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void reportsAreStoredAsTheyHappen() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope
run = batchscope.start(name="reports", config={"lr": 0.1})
for step in range(1, 501):
    run.report(step, loss=1 / step, extra=step)
run.event("odd", value=float("nan"))
run.event("evaluation", values={"validation_loss": 0.25, "f1": 0.5})
)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(500));
    QCOMPARE(run.records.at(3).loss, 0.25);
    QCOMPARE(run.of("odd").size(), 1U);
    QVERIFY(run.of("evaluation").at(0)["loss"] == Json(0.25));
    QVERIFY(!run.of("evaluation").at(0).contains("accuracy"));
    QVERIFY(run.of("program").at(0)["config"]["lr"] == Json(0.1));
    QCOMPARE(run.start.program->level, 1);
    QVERIFY(run.of("no-bye").empty());
    QVERIFY(std::filesystem::exists(run.start.program->output));
    QVERIFY(!std::filesystem::exists(program::folder_of_program(runs.file(), run.row.uid) / "spill"));
  }

  void aSizeThatIsGivenIsToldApartFromItsOwn_data() {
    QTest::addColumn<int>("given");
    QTest::addColumn<bool>("differs");
    QTest::newRow("another") << 16 << true;
    QTest::newRow("its own") << 8 << false;
    QTest::newRow("none") << 0 << false;
  }

  void aSizeThatIsGivenIsToldApartFromItsOwn() {
    QFETCH(int, given);
    QFETCH(bool, differs);
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 8, 100)
run._describe(epochs=1)
while not loader.through:
    loader.fetch()
    run.step(loss=1)
)");
    spec.program->attach = true; // the size goes over the socket
    if (given > 0)
      spec.batch = {run::BatchChoice::Kind::number, given};
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Json said = stored(runs, job).of("program").back();
    QVERIFY(said["batch"] == Json(8));
    QVERIFY(said["given_batch"] == (differs ? Json(given) : Json(nullptr)));
  }

  /// It may set its sizes after it has made its loader, and even after it has said hello.
  void sizesThatAProgramSetsBeforeItsFirstStepAreItsPlan() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 8, 100)
run.event("early")
loader.accumulate = 2
for i in range(4):
    loader.fetch()
    run.step(loss=1)
)");
    spec.program->attach = true;
    spec.batch = {run::BatchChoice::Kind::number, 16};
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.start.accumulate, 2);
    QCOMPARE(run.records.at(1).effective_batch, 32);
    QVERIFY(run.of("differs").empty());
  }

  /// The name that a program gives its run; the user's own goes before.
  void nameOfARun() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import batchscope\nbatchscope.start(name='of the\\nprogram').report(1, loss=1)");
    ProgramJob unnamed(runs, spec);
    unnamed.end();
    QCOMPARE(stored(runs, unnamed).row.name, std::string("of the program"));
    spec.name = "of the user";
    ProgramJob named(runs, spec);
    named.end();
    QCOMPARE(stored(runs, named).row.name, std::string("of the user"));
  }

  /// While it starts, a program says hello each time that it knows more of itself.
  void aProgramConnectsOnce() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope
run = batchscope.start()
run._describe(examples=5)
run.report(1, loss=1)
run.report(2, loss=1)
)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.of("program").size(), 1U);
    QVERIFY(run.of("program").at(0)["examples"] == Json(5));
  }

  void valuesOfAFileBelongToItsSteps() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python(R"(
import batchscope, os, sys
run = batchscope.start()
for step in range(1, 21):
    run.report(step, loss=1 / step)
with open(os.path.join(sys.argv[1], "log.csv"), "w") as log:
    log.write("step,loss,score\n4,9,0.4\n8,9,0.8\n16,9,1.6\n")
)");
    spec.program->reads = {"csv:" + runs.path("log.csv").string()};
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    QCOMPARE(stored(runs, job).records.at(3).loss, 0.25);
    std::vector<std::int64_t> steps;
    for (const store::Point& point : store::RunReader(runs.file()).series(job.result.id, "score"))
      steps.push_back(point.step);
    QCOMPARE(steps, (std::vector<std::int64_t>{4, 8, 16}));
  }

  /// What it has written before anybody looks is its own; only what was there before its start is not.
  void aFileIsReadFromTheProgramsStartOn() {
    const ProgramRuns runs;
    std::ofstream(runs.path("log.csv")) << "step,loss\n1,9\n2,9\n";
    run::RunSpec spec = runs.python(R"(
import os, sys
with open(os.path.join(sys.argv[1], "log.csv"), "a") as log:
    log.write("1,0.5\n2,0.25\n")
open(os.path.join(sys.argv[1], "written"), "w").close()
)");
    spec.program->reads = {"csv:" + runs.path("log.csv").string()};
    struct Losses final : telemetry::Sink {
      void record(const telemetry::StepRecord& record) override { losses.push_back(record.loss); }
      void event(telemetry::Event) override {}
      std::vector<double> losses;
    } sink;
    const auto source = program::open_program(spec);
    run::RunPlace place;
    place.start_changed = [&](const run::RunStart&) {
      QVERIFY(wait_until([&] { return std::filesystem::exists(runs.path("written")); }));
    };
    source->set_place(place);
    run::RunControl control;
    QCOMPARE(telemetry::to_string(source->run(sink, control).status), std::string("finished"));
    QCOMPARE(sink.losses, (std::vector<double>{0.5, 0.25}));
  }

  void aPatternThatMatchesNothingIsSaid() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"echo", "nothing"});
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    ProgramJob job(runs, spec);
    job.end();
    QVERIFY(stored(runs, job).of("unread").at(0)["message"] == Json("--metric loss: no line of the output matches"));
  }

  /// A socket's path is short.
  void aLongFolderOfSocketsIsNotUsed() {
    const ProgramRuns runs;
    const std::filesystem::path folder = runs.path(std::string(120, 'x'));
    std::filesystem::create_directory(folder);
    qputenv("XDG_RUNTIME_DIR", QByteArray::fromStdString(folder.string()));
    ProgramJob job(runs, runs.python("import batchscope; batchscope.start().report(1, loss=1)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    QCOMPARE(stored(runs, job).steps(), one_to(1));
    QVERIFY(std::filesystem::is_empty(folder));
  }

  void aStopThatComesWhenTheProgramIsThroughChangesNothing() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.loader(R"(
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
run.report(1, loss=1)
run.finish()
wait_for("end")
)"));
    job.wait_for_event("bye");
    job.control().stop();
    runs.allow("end");
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
  }

  void aScheduleDecidesTheSizes() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 1, 10)
run._describe(epochs=3)
while loader.epoch < 3 and not (loader.epoch == 2 and loader.through):
    loader.fetch()
    run.step(loss=1)
)");
    spec.schedule = "step:interval=5,increment=1";
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    std::vector<std::int64_t> takes;
    for (const auto& record : run.records)
      takes.push_back(record.effective_batch);
    // The trace of semantics.md, section 2, goes on: every 5 steps one more.
    QCOMPARE(takes, (std::vector<std::int64_t>{1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 3, 3, 3, 3, 3, 1}));
    QVERIFY(run.of("differs").empty());
    QCOMPARE(run.start.expected_steps, std::optional<std::int64_t>(static_cast<std::int64_t>(takes.size())));
    QCOMPARE(run.start.train_examples, 10);
    QCOMPARE(run.start.program->level, 2);
  }

  /// A program that takes up a checkpoint says so after it has connected.
  void aResumedProgramIsWhereItsCheckpointWas() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 8, 100000)
run._greet(wait=True)
run._begin_training(100)
run._changed, run._waited = True, False
for step in range(3):
    loader.fetch()
    run.step(loss=1)
)");
    spec.schedule = "piecewise:0=8,50=64,101=32";
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), (std::vector<std::int64_t>{101, 102, 103}));
    QCOMPARE(run.records.at(0).effective_batch, 64);
    QCOMPARE(run.records.at(1).effective_batch, 32);
    QVERIFY(run.of("differs").empty());
  }

  /// What is reported beside a loader, before or after its step, replaces nothing.
  void valuesBesideALoaderBelongToItsSteps() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 8, 1000)
for step in range(1, 7):
    loader.fetch()
    run.report(step, before=step)
    run.step(loss=1 / step)
    run.report(step, after=step, loss=9)
)");
    spec.program->attach = true;
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 32};
    ProgramJob job(runs, spec);
    const telemetry::RunOutcome outcome = job.end();
    QCOMPARE(telemetry::to_string(outcome.status), std::string("finished"));
    QCOMPARE(outcome.examples_seen, 6 * 32);
    QCOMPARE(outcome.loss, std::optional(1.0 / 6));
    QCOMPARE(outcome.epoch, 0.192);
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(6));
    for (const telemetry::StepRecord& record : run.records)
      QCOMPARE(record.batch, 32);
    const store::RunReader reader(runs.file());
    for (const char* name : {"before", "after", "other.loss"}) {
      const std::vector<store::Point> points = reader.series(job.result.id, name);
      QCOMPARE(points.size(), 6U);
      QCOMPARE(points.back().step, 6);
    }
    QVERIFY(run.of("differs").empty());
    QVERIFY(run.of("lint").empty());
  }

  void stepsThatAreCountedAgainAreSaid() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.loader(R"(
for epoch in range(2):
    for step in range(3):
        run.report(step, loss=1 - epoch / 2)
        run.report(step, score=step)
)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), (std::vector<std::int64_t>{0, 1, 2}));
    QCOMPARE(run.records.back().loss, 1.0);
    QCOMPARE(store::RunReader(runs.file()).series(job.result.id, "score").size(), 6U);
    QCOMPARE(run.of("lint").size(), 1U);
  }

  /// A run's rate is its highest, also if the last lines are read after the end.
  void theHighestRateIsTheRuns() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"/bin/sh", "-c", "for rate in 0.001 0.5 0.2; do echo rate=$rate; done"});
    spec.program->metrics = {{"learning_rate", "rate=([0-9.]+)"}};
    ProgramJob job(runs, spec);
    job.end();
    QCOMPARE(store::RunReader(runs.file()).run(job.result.id).settings.learning_rate, std::optional(0.5));
  }

  void editsPausesAndStepsReachTheProgram() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.loader(R"(
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    run.step(loss=1)
    time.sleep(0.002)
)"));
    job.wait_for_step(3);
    QVERIFY(job.control().edit({.schedule = "constant", .batch = 32, .command = 5}));
    job.wait_for_event("edit", "\"batch\":32");
    QVERIFY(job.control().pause());
    job.wait_for_event("status", "paused");
    const std::int64_t paused_at = job.step();
    QVERIFY(job.control().step_once());
    job.wait_for_step(paused_at + 1);
    QVERIFY(job.control().edit({.schedule = "constant", .batch = 8}));
    job.wait_for_event("edit", "\"batch\":8");
    QCOMPARE(job.step(), paused_at + 1);
    QVERIFY(job.control().resume());
    job.wait_for_step(paused_at + 10);
    job.control().stop();
    QCOMPARE(telemetry::to_string(job.end().status), std::string("stopped"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(run.row.outcome.steps));
    for (const Json& edit : run.of("edit")) {
      const auto from = static_cast<std::size_t>(edit["applies_from_step"].get<std::int64_t>());
      QCOMPARE(run.records.at(from - 2).batch, edit["batch_before"].get<std::int64_t>());
      QCOMPARE(run.records.at(from - 1).batch, edit["batch"].get<std::int64_t>());
    }
    QCOMPARE(run.of("edit").size(), 2U);
    QCOMPARE(run.of("status").size(), 2U);
    QVERIFY(run.of("differs").empty());
  }

  void aStopMayAskForACheckpoint() {
    for (const bool save : {false, true}) {
      const ProgramRuns runs;
      ProgramJob job(runs, runs.loader(R"(
loader = Sizes(run, 16, 1000)
while not run.stopping:
    loader.fetch()
    run.step(loss=1)
run.event("asked", save=run._save)
)"));
      job.wait_for_step(1);
      job.control().stop(save);
      QCOMPARE(telemetry::to_string(job.end().status), std::string("stopped"));
      QVERIFY(stored(runs, job).of("asked").at(0)["save"] == Json(save));
    }
  }

  void aProgramThatOnlyReportsCannotBeSteered() {
    const ProgramRuns runs;
    const std::string source = R"(
import batchscope, time
run = batchscope.start()
step = 0
while True:
    step += 1
    run.report(step, loss=1)
    time.sleep(0.001)
)";
    run::RunSpec spec = runs.python(source);
    spec.schedule = "step:interval=5,increment=1";
    ProgramJob asked_for_too_much(runs, spec);
    QCOMPARE(telemetry::to_string(asked_for_too_much.end().status), std::string("failed"));
    QVERIFY(asked_for_too_much.result.outcome.reason.starts_with(
        "the schedule step:interval=5,increment=1 is not followed: the program only reports its steps; use --attach"));
    ProgramJob job(runs, runs.python(source));
    job.wait_for_step(1);
    QVERIFY(job.control().edit({.schedule = "constant", .batch = 32}));
    job.wait_for_event("edit", "refused");
    job.control().set_budget({.bytes = 1 << 30, .command = 7});
    job.wait_for_event("budget", "\"command\":7");
    job.job().stop();
    QCOMPARE(telemetry::to_string(job.end().status), std::string("stopped"));
  }

  /// It is said while the program trains, and in a sweep, which compares its runs by that, it is a failure.
  void whatAProgramDoesNotFollowIsSaid() {
    const ProgramRuns runs;
    run::RunSpec spec =
        runs.python(std::string(pretended_loader).substr(0, std::string(pretended_loader).find("run =")) +
                    "for step in range(4): print('loss=1', flush=True)\nwait_for('end')");
    spec.program->attach = true;
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 64};
    ProgramJob job(runs, spec);
    job.wait_for_event("not-followed", "batch size 64 is not followed: the program has not connected");
    runs.allow("end");
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    QCOMPARE(stored(runs, job).of("not-followed").size(), 1U);
    QCOMPARE(stored(runs, job).records.back().batch, 0);

    struct Nothing final : telemetry::Sink {
      void record(const telemetry::StepRecord&) override {}
      void event(telemetry::Event) override {}
    } sink;
    const auto source = program::open_program(spec);
    run::RunPlace place;
    place.compared = true;
    source->set_place(place);
    run::RunControl control;
    const telemetry::RunOutcome outcome = source->run(sink, control);
    QCOMPARE(telemetry::to_string(outcome.status), std::string("failed"));
    QVERIFY(outcome.reason.starts_with("batch size 64 is not followed"));
  }

  /// A program over a stream follows a first size, but no schedule.
  void theFirstSizeOfAStreamIsFollowed() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.loader(pretended_stream);
    spec.program->attach = true;
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 64};
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    QVERIFY(stored(runs, job).of("not-followed").empty());
    QCOMPARE(stored(runs, job).records.back().batch, 64);
    spec.schedule = "linear:max=128";
    ProgramJob scheduled(runs, spec);
    QCOMPARE(telemetry::to_string(scheduled.end().status), std::string("failed"));
    QVERIFY(scheduled.result.outcome.reason.find("only reports its steps") != std::string::npos);
  }

  void anEndForWantOfMemoryIsCounted() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python("raise MemoryError()"));
    QCOMPARE(job.end().oom_events, 1);
    QVERIFY(stored(runs, job).of("oom").at(0)["cause"] == Json("host"));
  }

  /// What a program has survived is not why it ended.
  void errorsThatAProgramHasSurvived() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope
run = batchscope.start()
run.report(1, loss=1, batch=8)
error = {"attempted_batch": 8, "requested_bytes": 1000, "in_use_bytes": 2000, "limit_bytes": 1500, "error": "MemoryError"}
run.event("oom", where="training", outcome="split", split_to=4, **error)
run.event("oom", where="evaluation", outcome="smaller", split_to=2, **error)
run.event("oom", where="loading", outcome="retried", rank=1, **error)
run.event("oom", where="training", outcome="not-survived", **error,
          reason={"code": "single-example", "args": {}, "text": "a single example does not fit"})
run.event("budget", before_bytes=1500, budget_bytes=None,
          message="the step could not be made: a single example does not fit; the budget is the earlier one again")
raise KeyError("labels")
)"));
    const telemetry::RunOutcome outcome = job.end();
    QCOMPARE(outcome.oom_events, 4);
    QCOMPARE(outcome.reason, std::string("exit status 1: KeyError: 'labels'"));
    std::vector<telemetry::OutOfMemory> errors;
    for (const telemetry::Event& event : stored(runs, job).events)
      if (const auto* error = std::get_if<telemetry::OutOfMemory>(&event.body))
        errors.push_back(*error);
    QCOMPARE(errors.size(), std::size_t{4});
    using Oom = telemetry::OutOfMemory;
    QVERIFY(errors[0].outcome == Oom::Outcome::split && errors[0].split_to == 4 && errors[0].error == "MemoryError");
    QVERIFY(errors[1].outcome == Oom::Outcome::smaller && errors[1].where == Oom::Where::evaluation);
    QVERIFY(errors[2].outcome == Oom::Outcome::retried && errors[2].rank == 1);
    QVERIFY(errors[3].reason == telemetry::because(telemetry::Words::single_example));
    for (const Oom& error : errors) // of a program that does not say its device
      QVERIFY(error.counts == Oom::Counts::process && error.in_use_bytes == 2000U);
  }

  void anErrorThatAProgramHasNotSurvived() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope, sys
run = batchscope.start()
run.report(1, loss=1, batch=8)
run.event("oom", where="evaluation", outcome="not-survived", attempted_batch=8, error="MemoryError: 3 kB",
          reason={"code": "of-a-later-client", "args": {"n": 3}, "text": "the moon is full"})
sys.exit(1)
)"));
    QCOMPARE(job.end().reason,
             std::string("out of memory (host): MemoryError: 3 kB (evaluation); not survived: the moon is full"));
    const Json event = stored(runs, job).of("oom").at(0);
    QVERIFY(event["reason_code"] == Json("of-a-later-client") && event["reason_args"] == Json({{"n", 3}}));
    QVERIFY(event["reason"] == Json("the moon is full"));
    QCOMPARE(stored(runs, job).of("oom").size(), 1U); // it is not said once more from outside
  }

  void theEndOfTheTimeIsSaid() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import time\ntime.sleep(600)");
    spec.max_seconds = 0.05;
    ProgramJob job(runs, spec);
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    QCOMPARE(stored(runs, job).of("time-over").size(), 1U);
  }

  void aProgramThatDoesNotListenIsPausedAndStoppedFromOutside() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import time\nstep = 0\nwhile True:\n  step += 1\n  print('step=%d' % step)\n  "
                                    "time.sleep(0.002)");
    spec.program->metrics = {{"count", "step=([0-9]+)"}};
    ProgramJob job(runs, spec);
    job.wait_for_step(2);
    QVERIFY(job.control().pause());
    job.wait_for_event("status", "paused");
    QVERIFY(job.control().resume());
    job.wait_for_event("status", "running");
    job.wait_for_step(job.step() + 2);
    job.control().stop();
    QCOMPARE(telemetry::to_string(job.end().status), std::string("stopped"));
  }

  void aProgramThatIgnoresTheStopIsEnded() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.python("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                                    "print('ready=1')\ntime.sleep(600)");
    spec.program->grace = 0.05;
    spec.program->metrics = {{"ready", "ready=([0-9]+)"}};
    ProgramJob job(runs, spec);
    job.wait_for_step(1);
    job.control().stop();
    QCOMPARE(telemetry::to_string(job.end().status), std::string("stopped"));
    QVERIFY(stored(runs, job).of("exit").at(0)["signal"] == Json(SIGTERM));
  }

  void aDaemonThatTrainsIsSaidToBeEnded() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Json said = stored(runs, job).of("left-behind").at(0)["message"];
    QVERIFY2(said.get<std::string>().find("a process that it had started is ended") != std::string::npos,
             said.get<std::string>().c_str());
  }

  void whatAKilledProgramHadSentIsStored() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope, os, signal
run = batchscope.start()
for step in range(1, 51): # the socket takes all of them, however busy the other side is
    run.report(step, loss=step)
os.kill(os.getpid(), signal.SIGKILL)
)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("failed"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(50));
    QVERIFY(run.of("exit").at(0)["signal"] == Json(SIGKILL));
    QCOMPARE(runs.sockets_left(), 0U);
  }

  void otherProgramsOnTheSocketDoNoHarm() {
    const ProgramRuns runs;
    ProgramJob job(runs, runs.python(R"(
import batchscope, os, socket, subprocess, sys
run = batchscope.start()
run.report(1, loss=1)
foreign = socket.socket(socket.AF_UNIX)
foreign.connect(os.environ["BATCHSCOPE_SOCKET"])
for _ in range(100):
    foreign.send(b'\x00\xff garbage\n{"type": 5}\n')
foreign.send(b"no end")
second = """
import batchscope
run = batchscope.start()
for step in range(1, 9):
    run.report(step, loss=-1)
"""
subprocess.run([sys.executable, "-c", second], check=True)
subprocess.run([sys.executable, "-c", second], check=True, env={**os.environ, "RANK": "1", "WORLD_SIZE": "2"})
run.report(2, loss=1)
)"));
    QCOMPARE(telemetry::to_string(job.end().status), std::string("finished"));
    const Stored run = stored(runs, job);
    QCOMPARE(run.steps(), one_to(2));
    QCOMPARE(run.of("protocol").size(), 1U);
    QCOMPARE(run.of("second").size(), 1U);
  }

  void aBadStartChangesNothing() {
    const ProgramRuns runs;
    run::RunSpec spec = runs.command({"true", "{unknown}"});
    QVERIFY_THROWS_EXCEPTION(Error, program::open_program(spec));
    QVERIFY_THROWS_EXCEPTION(Error, program::open_program(run::RunSpec()));
    QVERIFY(!std::filesystem::exists(runs.file()));
  }
};

BATCHSCOPE_TEST(TestProgramRun)
#include "tst_program_run.moc"
