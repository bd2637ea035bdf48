#include <QSignalSpy>
#include <QtTest>

#include "core/store/run_store.h"
#include "ui/run/plan_editor.h"
#include "ui/run/plan_handles.h"
#include "ui/run/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

constexpr std::int64_t to_the_end = PlanEditor::to_the_end;

double newest_batch(const OpenRun& run) {
  const auto* sizes = run.history()->find("batch");
  return sizes == nullptr || sizes->values.size() == 0 ? 0 : sizes->values.back();
}

/// A paused run with stretches of two steps ahead: 16, 24, and 32 to the end; and the editor that edits it.
class EditedRun {
public:
  EditedRun() {
    bench_->start_run(small_run(100'000));
    QTRY_VERIFY_WITH_TIMEOUT(bench_->current() && bench_->current()->steps() > 5, patience_ms);
    run().pause();
    QTRY_VERIFY_WITH_TIMEOUT(run().paused(), patience_ms);
    begin_ = run().steps();
    run().edit({QString("piecewise:%1=16,%2=24,%3=32").arg(begin_).arg(begin_ + 3).arg(begin_ + 5).toStdString(), 16});
    step();
    QTRY_VERIFY_WITH_TIMEOUT(!run().pending_edit(), patience_ms);
    editor_.edit_run(&run());
    QTRY_COMPARE_WITH_TIMEOUT(editor_.segments().size(), std::size_t{3}, patience_ms);
  }
  ~EditedRun() {
    run().stop();
    [this] { QTRY_COMPARE_WITH_TIMEOUT(run().status(), QString("stopped"), patience_ms); }();
  }

  WorkbenchHere& bench() { return bench_; }
  OpenRun& run() { return *bench_->current(); }
  PlanEditor& editor() { return editor_; }
  std::int64_t at(std::int64_t steps) const { return begin_ + steps; }

  void step() {
    const std::int64_t done = run().steps();
    run().step_once();
    QTRY_COMPARE_WITH_TIMEOUT(run().steps(), done + 1, patience_ms);
  }
  int refused_edits() {
    int count = 0;
    for (const auto& event : run().events())
      count += event.kind == "edit" && event.detail_json.find("refused") != std::string::npos ? 1 : 0;
    return count;
  }

private:
  WorkbenchHere bench_;
  PlanEditor editor_{bench_->undo_stack()};
  std::int64_t begin_ = 0;
};

} // namespace

/// Plans that are typed, dragged, applied and taken back.
class TestPlanEditor : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void plansADraftAndUndoes();
  void firstBatchOfADraftFollowsTheDrag();
  void waitsForThePlanBeforeItApplies();
  void undoKnowsItsDraft();
  void undoOfADraftWorksWhileARunIsEdited();
  void undoLeavesAFirstBatchThatItDidNotChange();
  void aPlanOnItsWayIsNotOfWhatComesThen();
  void draggedBackIsGivenUp();
  void tellsWhatCanBeDragged();
  void editsThePlanOfARunAndTakesItBack();
  void undoesAfterTheRunHasPassedStretches();
  void aStretchKeepsItsNameWhileTheRunGoesOn();
  void aStretchThatHasPassedIsDraggedNoMore();
  void whatIsWrongStaysSaidWhenAStretchPasses();
};

void TestPlanEditor::plansADraftAndUndoes() {
  QUndoStack undo;
  PlanEditor editor(undo);
  train::RunSpec spec = small_run(100);
  spec.schedule = "piecewise:0=16,50=32";
  editor.edit_draft({spec, 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan(), patience_ms);
  QCOMPARE(editor.segments().size(), std::size_t{2});
  QCOMPARE(editor.plan()->steps, 100);

  QVERIFY(editor.drag(to_the_end, 64));
  QVERIFY(editor.has_preview());
  QCOMPARE(editor.schedule(), QString("piecewise:0=16,50=64"));
  editor.apply();
  QTRY_COMPARE_WITH_TIMEOUT(editor.draft().spec.schedule, std::string("piecewise:0=16,50=64"), patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 64, patience_ms);
  undo.undo();
  QCOMPARE(editor.draft().spec.schedule, std::string("piecewise:0=16,50=32"));
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 32, patience_ms);
  undo.redo();
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().back().batch, 64, patience_ms);

  editor.type("linear:max=");
  QTRY_VERIFY_WITH_TIMEOUT(!editor.error().isEmpty(), patience_ms);
  QSignalSpy refused(&editor, &PlanEditor::apply_refused);
  editor.apply();
  QCOMPARE(refused.count(), 1);
  QCOMPARE(editor.draft().spec.schedule, std::string("piecewise:0=16,50=64"));
  editor.discard();
  QTRY_VERIFY_WITH_TIMEOUT(editor.error().isEmpty(), patience_ms);
}

void TestPlanEditor::firstBatchOfADraftFollowsTheDrag() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan() && editor.segments().size() == 1, patience_ms);
  editor.drop(to_the_end, 20);
  QTRY_COMPARE_WITH_TIMEOUT(editor.draft().batch, 20, patience_ms);
  QCOMPARE(editor.draft().spec.batch.number, 20);
  QTRY_VERIFY_WITH_TIMEOUT(editor.segments().front().batch == 20 && editor.error().isEmpty(), patience_ms);
  undo.undo();
  QCOMPARE(editor.draft().batch, 16);
}

void TestPlanEditor::waitsForThePlanBeforeItApplies() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  QSignalSpy applied(&editor, &PlanEditor::applied), refused(&editor, &PlanEditor::apply_refused);
  editor.type("step:interval=0,increment=1");
  editor.apply(); // nobody has looked at it yet
  QTRY_COMPARE_WITH_TIMEOUT(refused.count(), 1, patience_ms);
  QVERIFY(!undo.canUndo());
  editor.type("step:interval=50,increment=1");
  editor.apply();
  QCOMPARE(editor.draft().spec.schedule, std::string("constant"));
  QTRY_COMPARE_WITH_TIMEOUT(applied.count(), 1, patience_ms);
  QCOMPARE(editor.draft().spec.schedule, std::string("step:interval=50,increment=1"));
  QCOMPARE(refused.count(), 1);
}

void TestPlanEditor::undoKnowsItsDraft() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  editor.type("linear:max=64");
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo(), patience_ms);
  train::RunSpec other = small_run(200);
  other.schedule = "adabatch:every=1,factor=2";
  editor.edit_draft({other, 8});
  undo.undo();
  QCOMPARE(editor.draft().spec.schedule, other.schedule);
  QCOMPARE(editor.draft().batch, 8);
  QVERIFY(!undo.canRedo());
}

void TestPlanEditor::undoOfADraftWorksWhileARunIsEdited() {
  EditedRun edited;
  QUndoStack& undo = edited.bench()->undo_stack();
  PlanEditor& editor = edited.editor();
  editor.edit_draft({small_run(100), 16});
  editor.type("linear:max=64");
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo(), patience_ms);
  editor.edit_run(&edited.run());
  undo.undo();
  QCOMPARE(editor.draft().spec.schedule, std::string("constant"));
  QVERIFY(!edited.run().pending_edit());
  QVERIFY(undo.canRedo());
  editor.return_to_draft();
  undo.redo();
  QCOMPARE(editor.draft().spec.schedule, std::string("linear:max=64"));

  // And a run's while a draft is.
  editor.edit_run(&edited.run());
  QTRY_VERIFY_WITH_TIMEOUT(!editor.segments().empty(), patience_ms);
  editor.drop(to_the_end, 40);
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  edited.step();
  QTRY_VERIFY_WITH_TIMEOUT(!edited.run().pending_edit(), patience_ms);
  editor.return_to_draft();
  undo.undo();
  QVERIFY(edited.run().pending_edit());
  QCOMPARE(editor.draft().spec.schedule, std::string("linear:max=64"));
}

void TestPlanEditor::undoLeavesAFirstBatchThatItDidNotChange() {
  QUndoStack undo;
  PlanEditor editor(undo);
  train::RunSpec spec = small_run(100);
  spec.schedule = "step:interval=50,increment=16";
  editor.edit_draft({spec, 16});
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().size(), std::size_t{2}, patience_ms);
  editor.drop(to_the_end, 64);
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo(), patience_ms);
  DraftPlan larger = editor.draft();
  larger.batch = larger.spec.batch.number = 20;
  editor.change_draft(larger);
  undo.undo();
  QCOMPARE(editor.draft().spec.schedule, spec.schedule);
  QCOMPARE(editor.draft().batch, 20);
}

void TestPlanEditor::aPlanOnItsWayIsNotOfWhatComesThen() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan(), patience_ms); // the data is known from now on
  editor.type("linear:max=64");
  editor.edit_run(nullptr);
  QVERIFY(!editor.plan());
  QSignalSpy changed(&editor, &PlanEditor::plan_changed);
  constexpr int much_longer_than_planning_ms = 500;
  QVERIFY(!changed.wait(much_longer_than_planning_ms));
  QVERIFY(!editor.plan());
}

void TestPlanEditor::draggedBackIsGivenUp() {
  QUndoStack undo;
  PlanEditor editor(undo);
  train::RunSpec spec = small_run(100);
  spec.schedule = "step:interval=50,increment=16";
  editor.edit_draft({spec, 16});
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().size(), std::size_t{2}, patience_ms);
  for (int round = 0; round < 2; ++round) { // what was dragged to is not where all was
    editor.drag(to_the_end, 50 + round);
    QVERIFY(editor.has_preview());
    editor.drag(to_the_end, 32);
    QVERIFY(!editor.has_preview());
    QCOMPARE(editor.schedule(), QString("step:interval=50,increment=16"));
  }
  editor.drag(to_the_end, 64);
  QTRY_COMPARE_WITH_TIMEOUT(editor.plan()->outline.back().batch, 64, patience_ms);
  editor.discard();
  QCOMPARE(editor.segments().back().batch, 32); // at once
  QCOMPARE(editor.plan()->outline.back().batch, 32);
}

void TestPlanEditor::tellsWhatCanBeDragged() {
  QUndoStack undo;
  PlanEditor editor(undo);
  QVERIFY(plan_stretches(editor).empty());
  train::RunSpec spec = small_run(100);
  spec.schedule = "step:interval=50,increment=16";
  editor.edit_draft({spec, 16});
  QTRY_COMPARE_WITH_TIMEOUT(plan_stretches(editor).size(), std::size_t{2}, patience_ms);
  const auto stretches = plan_stretches(editor);
  QCOMPARE(stretches[0].name, 50);
  QCOMPARE(stretches[0].from, 1);
  QCOMPARE(stretches[0].to, 51);
  QCOMPARE(stretches[1].name, to_the_end);
  QCOMPARE(stretches[1].from, 51);
  QCOMPARE(stretches[1].to, 100);
  QCOMPARE(stretches[1].batch, 32);
  QCOMPARE(stretches[1].highest, 8000);
  QCOMPARE(stretches[1].label, QString("32"));
  spec.max_batch = 48;
  editor.edit_draft({spec, 16});
  QTRY_COMPARE_WITH_TIMEOUT(plan_stretches(editor).size(), std::size_t{2}, patience_ms);
  QCOMPARE(plan_stretches(editor)[0].highest, 48);
}

void TestPlanEditor::editsThePlanOfARunAndTakesItBack() {
  EditedRun edited;
  QCOMPARE(edited.editor().segments().front().first_step, edited.run().steps() + 1);
  edited.editor().drop(to_the_end, 40);
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  for (int i = 0; i < 5; ++i)
    edited.step();
  QCOMPARE(newest_batch(edited.run()), 40.0);
  edited.bench()->undo_stack().undo();
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 32.0);
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::undoesAfterTheRunHasPassedStretches() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  edited.step();
  edited.step();
  edited.step(); // the first stretch is past, and the plan older than that
  QCOMPARE(newest_batch(edited.run()), 24.0);
  editor.drop(to_the_end, 64);
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 24.0);
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 64.0);
  edited.bench()->undo_stack().undo();
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 32.0);
  edited.bench()->undo_stack().redo();
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 64.0);
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::aStretchKeepsItsNameWhileTheRunGoesOn() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  const std::int64_t second = editor.name_of(editor.segments()[1]);
  QCOMPARE(second, edited.at(5));
  for (int i = 0; i < 2; ++i)
    edited.step();
  QTRY_COMPARE(editor.segments().size(), std::size_t{2});
  QVERIFY(editor.drag(second, 48));
  QCOMPARE(editor.segments().front().batch, 48);
  QCOMPARE(editor.segments().back().batch, 32);
  edited.step(); // while it is dragged
  QVERIFY(editor.drag(second, 50));
  QCOMPARE(editor.schedule(), QString("piecewise:%1=50,%2=32").arg(edited.at(4)).arg(edited.at(5)));
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 50.0);
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 32.0);
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::aStretchThatHasPassedIsDraggedNoMore() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  const std::int64_t first = editor.name_of(editor.segments().front());
  QVERIFY(editor.drag(first, 48));
  for (int i = 0; i < 3; ++i)
    edited.step();
  QTRY_VERIFY(!editor.has_preview()); // nothing is left of it
  QVERIFY(!editor.drag(first, 50));
  QSignalSpy refused(&editor, &PlanEditor::apply_refused);
  editor.drop(first, 50);
  QCOMPARE(refused.count(), 1);
  QVERIFY(!editor.has_preview());
  QVERIFY(!edited.run().pending_edit());
}

void TestPlanEditor::whatIsWrongStaysSaidWhenAStretchPasses() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  editor.type("nonsense");
  QTRY_VERIFY_WITH_TIMEOUT(!editor.error().isEmpty(), patience_ms);
  for (int i = 0; i < 3; ++i)
    edited.step();
  QTRY_COMPARE(editor.segments().size(), std::size_t{2});
  QVERIFY(!editor.error().isEmpty());
  QVERIFY(editor.has_preview());
}

QTEST_MAIN(TestPlanEditor)
#include "tst_plan_editor.moc"
