#include <QFile>
#include <QSignalSpy>
#include <QTest>

#include "core/base/json.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/store_test.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

std::vector<double> values(const OpenRun& run, const char* name) {
  std::vector<double> values;
  if (const auto* series = run.history()->find(name))
    for (std::size_t i = 0; i < series->values.size(); ++i)
      values.push_back(series->values[i]);
  return values;
}

std::vector<double> stored(const std::filesystem::path& database, std::int64_t id, const char* name) {
  std::vector<double> values;
  for (const auto& point : store::RunReader(database).series(id, name))
    values.push_back(point.value);
  return values;
}

/// A run that another process makes: what it reports is in the test's hands, and what is sent to it is not taken.
struct StoredRunHere {
  explicit StoredRunHere(const run::RunSpec& spec = small_run(100)) {
    run::RunStart start;
    start.batch = 16;
    start.train_examples = 100;
    store::NewRun fresh;
    fresh.spec_json = run::to_json(spec);
    fresh.start_json = run::to_json(start);
    writer = store.begin(fresh);
    run = std::make_unique<OpenRun>(writer->id(), run_database, nullptr);
  }
  void tell(const char* kind, const char* detail) { writer->sink().event(event_of(0, 0, kind, detail)); }

  QTemporaryDir folder;
  std::filesystem::path file = (folder.path() + "/runs.db").toStdString();
  store::RunStore store{file};
  std::unique_ptr<store::RunWriter> writer;
  RunDatabase run_database{file};
  std::unique_ptr<OpenRun> run;
};

} // namespace

/// Runs as the window shows and steers them, wherever they are made.
class TestOpenRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void showsAndSteersItsOwnRun() {
    WorkbenchHere bench;
    bench->start_run(small_run(2'000'000));
    QTRY_VERIFY_WITH_TIMEOUT(bench->current() && bench->current()->steps() > 20, patience_ms);
    OpenRun& run = *bench->current();
    run.pause();
    QTRY_VERIFY_WITH_TIMEOUT(run.paused(), patience_ms);
    const std::int64_t steps = run.steps();
    run.step_once();
    QTRY_COMPARE_WITH_TIMEOUT(run.steps(), steps + 1, patience_ms);
    QVERIFY(run.paused());
    run.edit({"constant", 24});
    QVERIFY(run.pending_edit());
    run.step_once();
    QTRY_VERIFY_WITH_TIMEOUT(!run.pending_edit(), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(values(run, "batch").back(), 24.0, patience_ms);
    QCOMPARE(run.plan_request().edits.back().after_step, steps + 1);
    run.resume();
    QTRY_VERIFY_WITH_TIMEOUT(run.status() == "running" && run.steps() > steps + 2, patience_ms);
    run.stop();
    QTRY_COMPARE_WITH_TIMEOUT(run.status(), QString("stopped"), patience_ms);
    for (const char* name : {"loss", "batch", "peak_bytes", "train_coverage"})
      QCOMPARE(values(run, name), stored(bench.database(), run.id(), name));
  }

  void readsARunThatIsOver() {
    WorkbenchHere bench;
    Job* job = bench->start_run(growing_run());
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    const std::int64_t id = bench->current()->id();
    const auto live = values(*bench->current(), "loss");
    // Time and speed mean the same in the run that is watched and in the list of runs, to the last digit.
    QTRY_COMPARE_WITH_TIMEOUT(bench->current()->status(), QString("finished"), patience_ms);
    const telemetry::RunOutcome outcome = store::RunReader(bench.database()).run(id).outcome;
    QCOMPARE(bench->current()->seconds(), outcome.seconds);
    QCOMPARE(bench->current()->examples_per_second(), outcome.examples_per_second);
    QVERIFY(outcome.seconds > values(*bench->current(), "seconds").back()); // an evaluation ends it
    bench->open({});
    QCOMPARE(bench->current(), nullptr);
    bench->open({id});
    OpenRun& run = *bench->current();
    QCOMPARE(run.status(), QString("loading"));
    QTRY_COMPARE_WITH_TIMEOUT(run.status(), QString("finished"), patience_ms);
    QCOMPARE(values(run, "loss"), live);
    QCOMPARE(run.seconds(), outcome.seconds);
    QCOMPARE(run.examples_per_second(), outcome.examples_per_second);
    QVERIFY(values(run, "validation_loss").size() >= 1);
    QVERIFY(run.start()->memory.has_value());
    QVERIFY(std::any_of(run.events().begin(), run.events().end(),
                        [](const auto& event) { return kind_text(event) == "oom"; }));
  }

  void watchesAndSteersARunOfAnotherWriter() {
    // What another process would do, with a store of its own: it is told apart by the database alone.
    WorkbenchHere writer;
    writer->start_run(small_run(2'000'000));
    QTRY_VERIFY_WITH_TIMEOUT(writer->current(), patience_ms);
    RunDatabase run_database(writer.database());
    OpenRun run(writer->current()->id(), run_database, nullptr);
    QTRY_VERIFY_WITH_TIMEOUT(run.steps() > 20, patience_ms);
    QCOMPARE(run.status(), QString("running"));
    run.pause();
    QTRY_VERIFY_WITH_TIMEOUT(run.paused(), patience_ms);
    QVERIFY(writer->current()->paused());
    run.edit({"constant", 24});
    run.resume();
    QTRY_VERIFY_WITH_TIMEOUT(!run.pending_edit() && values(run, "batch").back() == 24, patience_ms);
    run.stop();
    QTRY_COMPARE_WITH_TIMEOUT(run.status(), QString("stopped"), patience_ms);
    QCOMPARE(values(run, "loss"), stored(writer.database(), run.id(), "loss"));
  }

  void saysThatARunIsGone() {
    WorkbenchHere bench;
    QSignalSpy problem(&*bench, &Workbench::problem);
    bench->open({77});
    QTRY_COMPARE_WITH_TIMEOUT(problem.count(), 1, patience_ms);
    QCOMPARE(bench->current()->status(), QString("unreadable"));
    // Asked for once more it is read once more.
    bench->open({77});
    QTRY_COMPARE_WITH_TIMEOUT(problem.count(), 2, patience_ms);
  }

  void aRunWhoseEndCannotBeStoredIsNotSaidToGoOn() {
    WorkbenchHere bench;
    Job* job = bench->start_run(small_run(3000));
    QTRY_VERIFY_WITH_TIMEOUT(bench->current() && bench->current()->steps() > 5, patience_ms);
    OpenRun& run = *bench->current();
    QSignalSpy ended(job, &Job::run_ended);
    {
      const store::test::FileSizeLimit full(16 * 1024);
      QTRY_COMPARE_WITH_TIMEOUT(run.steps(), 3000, patience_ms); // what comes is shown, stored or not
      QTRY_VERIFY_WITH_TIMEOUT(job->activity().contains("Not saved yet"), patience_ms);
      QVERIFY(run.running());
      job->cancel();
      QTRY_VERIFY_WITH_TIMEOUT(bench->job_queue().idle(), patience_ms);
    }
    QCOMPARE(ended.count(), 0);
    QCOMPARE(run.status(), QString("failed"));
    QVERIFY(!run.reason().isEmpty());
  }

  void eventsOfAnUnexpectedFormDoNoHarm() {
    StoredRunHere here;
    for (const char* detail : {R"({"status": 5})", R"({"status": null})", R"(["paused"])", "{", "5", "{}"})
      here.tell("status", detail);
    for (const char* detail :
         {R"({"schedule": 7, "applies_from_step": 3, "batch": 8})", R"({"schedule": "constant", "batch": {}})",
          R"({"schedule": "constant", "applies_from_step": "soon", "batch": 8})", R"({"refused": 1})", "null"})
      here.tell("edit", detail);
    here.tell("edit", R"({"schedule": "constant", "applies_from_step": 3, "batch": 8})");
    here.tell("status", R"({"status": "paused"})");
    QTRY_COMPARE_WITH_TIMEOUT(here.run->events().size(), std::size_t{13}, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.run->paused(), patience_ms);
    QCOMPARE(here.run->plan_request().edits.size(), std::size_t{1});
    QCOMPARE(here.run->plan_request().edits.front().after_step, 2);
  }

  /// Steps below AdaScale's reference batch count for less than one: neither their number nor the time left is known.
  void stepsThatCountForTheirGainsShowNoProgress() {
    run::RunSpec spec = small_run(100);
    StoredRunHere plain(spec);
    spec.lr_rule = "adascale";
    StoredRunHere at_reference(spec);
    spec.lr_reference_batch = 512;
    StoredRunHere below(spec);
    for (StoredRunHere* here : {&plain, &at_reference, &below}) {
      telemetry::StepRecord record;
      record.step = 50;
      record.examples_seen = 800;
      record.seconds = 2;
      here->writer->sink().record(record);
      QTRY_COMPARE_WITH_TIMEOUT(here->run->steps(), 50, patience_ms);
    }
    QCOMPARE(plain.run->progress(), std::optional(0.5));
    QCOMPARE(at_reference.run->progress(), std::optional(0.5));
    QCOMPARE(at_reference.run->expected_steps(), std::optional<std::int64_t>(100));
    QVERIFY(!below.run->expected_steps() && !below.run->progress() && !below.run->seconds_left());
    at_reference.tell("edit", R"({"schedule": "constant", "applies_from_step": 51, "batch": 4})");
    QTRY_VERIFY_WITH_TIMEOUT(!at_reference.run->expected_steps() && !at_reference.run->progress(), patience_ms);
  }

  void severalEditsWaitEachForItsOwnEnd() {
    StoredRunHere here;
    QTRY_VERIFY_WITH_TIMEOUT(here.run->running(), patience_ms);
    here.run->edit({"constant", 24});
    here.run->edit({"linear:max=64", std::nullopt});
    here.tell("edit", R"({"schedule": "step:interval=5", "applies_from_step": 1, "batch": 8})"); // somebody else's
    here.tell("edit", R"({"schedule": "constant", "applies_from_step": 1, "batch": 24})");
    QTRY_COMPARE_WITH_TIMEOUT(here.run->events().size(), std::size_t{2}, patience_ms);
    QVERIFY(here.run->pending_edit());
    QCOMPARE(here.run->pending_edit()->schedule, std::string("linear:max=64"));
    here.tell("edit", R"({"schedule": "linear:max=64", "refused": "no"})");
    QTRY_VERIFY_WITH_TIMEOUT(!here.run->pending_edit(), patience_ms);
    QCOMPARE(here.run->plan_request().edits.size(), std::size_t{2});
  }

  void anEditThatCannotBeSentWaitsNoMore() {
    StoredRunHere here;
    QTRY_VERIFY_WITH_TIMEOUT(here.run->running(), patience_ms);
    const QString name = here.folder.path() + "/runs.db";
    QVERIFY(QFile::rename(name, name + ".away"));
    here.run->edit({"constant", 24});
    QVERIFY(here.run->pending_edit());
    QTRY_VERIFY_WITH_TIMEOUT(!here.run->pending_edit(), patience_ms);
    QVERIFY(here.run->running());
  }
};

BATCHSCOPE_TEST(TestOpenRun)
#include "tst_open_run.moc"
