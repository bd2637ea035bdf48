#include <QSignalSpy>
#include <QtTest>

#include "core/base/json.h"
#include "core/store/run_store.h"
#include "ui/run/plan_editor.h"
#include "ui/run/workbench_test.h"

using namespace batchscope;
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
    bench->open({});
    QCOMPARE(bench->current(), nullptr);
    bench->open({id});
    OpenRun& run = *bench->current();
    QCOMPARE(run.status(), QString("loading"));
    QTRY_COMPARE_WITH_TIMEOUT(run.status(), QString("finished"), patience_ms);
    QCOMPARE(values(run, "loss"), live);
    QVERIFY(values(run, "validation_loss").size() >= 1);
    QVERIFY(run.start()->memory.has_value());
    QVERIFY(
        std::any_of(run.events().begin(), run.events().end(), [](const auto& event) { return event.kind == "oom"; }));
  }

  void watchesAndSteersARunOfAnotherWriter() {
    // What another process would do, with a store of its own: it is told apart by the database alone.
    WorkbenchHere writer;
    writer->start_run(small_run(2'000'000));
    QTRY_VERIFY_WITH_TIMEOUT(writer->current(), patience_ms);
    Library library(writer.database());
    OpenRun run(writer->current()->id(), library, nullptr);
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
    QCOMPARE(bench->current()->status(), QString("failed"));
  }

  void plansADraftAndUndoes() {
    QUndoStack undo;
    PlanEditor editor(undo);
    train::RunSpec spec = small_run(100);
    spec.schedule = "piecewise:0=16,50=32";
    editor.edit_draft({spec, 16});
    QTRY_VERIFY_WITH_TIMEOUT(editor.plan(), patience_ms);
    QCOMPARE(editor.segments().size(), std::size_t{2});
    QCOMPARE(editor.plan()->steps, 100);

    editor.drag(1, 64);
    QVERIFY(editor.has_preview());
    QCOMPARE(editor.schedule(), QString("piecewise:0=16,50=64"));
    editor.apply();
    QCOMPARE(editor.draft().spec.schedule, std::string("piecewise:0=16,50=64"));
    QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 64, patience_ms);
    undo.undo();
    QCOMPARE(editor.draft().spec.schedule, std::string("piecewise:0=16,50=32"));
    QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 32, patience_ms);
    undo.redo();
    QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 64, patience_ms);

    editor.type("linear:max=");
    QTRY_VERIFY_WITH_TIMEOUT(!editor.error().isEmpty(), patience_ms);
    editor.apply();
    QCOMPARE(editor.draft().spec.schedule, std::string("piecewise:0=16,50=64"));
    editor.discard();
    QTRY_VERIFY_WITH_TIMEOUT(editor.error().isEmpty(), patience_ms);
  }

  void firstBatchOfADraftFollowsTheDrag() {
    QUndoStack undo;
    PlanEditor editor(undo);
    editor.edit_draft({small_run(100), 16});
    QTRY_VERIFY_WITH_TIMEOUT(editor.plan() && editor.segments().size() == 1, patience_ms);
    editor.drag(0, 20);
    editor.apply();
    QCOMPARE(editor.draft().batch, 20);
    QCOMPARE(editor.draft().spec.batch.number, 20);
    QTRY_VERIFY_WITH_TIMEOUT(editor.segments().front().batch == 20 && editor.error().isEmpty(), patience_ms);
  }

  void editsThePlanOfARunAndTakesItBack() {
    WorkbenchHere bench;
    train::RunSpec spec = small_run(100'000);
    bench->start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(bench->current() && bench->current()->steps() > 5, patience_ms);
    OpenRun& run = *bench->current();
    run.pause();
    QTRY_VERIFY_WITH_TIMEOUT(run.paused(), patience_ms);
    PlanEditor editor(bench->undo_stack());
    editor.edit_run(&run);
    QTRY_VERIFY_WITH_TIMEOUT(!editor.segments().empty(), patience_ms);
    QCOMPARE(editor.segments().front().first_step, run.steps() + 1);
    editor.drag(0, 40);
    editor.apply();
    QVERIFY(run.pending_edit());
    run.step_once();
    QTRY_VERIFY_WITH_TIMEOUT(values(run, "batch").back() == 40, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!run.pending_edit(), patience_ms);
    bench->undo_stack().undo();
    run.step_once();
    QTRY_VERIFY_WITH_TIMEOUT(values(run, "batch").back() == 16, patience_ms);
    run.stop();
    QTRY_COMPARE_WITH_TIMEOUT(run.status(), QString("stopped"), patience_ms);
    int edits = 0;
    for (const auto& event : store::RunReader(bench.database()).events(run.id()))
      edits += event.kind == "edit" ? 1 : 0;
    QCOMPARE(edits, 2);
  }
};

QTEST_MAIN(TestOpenRun)
#include "tst_open_run.moc"
