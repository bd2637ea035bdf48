#include <QSignalSpy>
#include <QTest>

#include "core/schedule/progression.h"
#include "core/store/run_row.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/plan/plan_editor.h"
#include "ui/plan/plan_handles.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

constexpr std::int64_t to_the_end = PlanEditor::to_the_end;

std::vector<std::int64_t> sizes_of(const schedule::Plan& plan) {
  std::vector<std::int64_t> sizes;
  const series::Series& batch = *plan.history->find("batch");
  for (std::size_t i = 0; i < batch.values.size(); ++i)
    sizes.push_back(std::llround(batch.values[i]));
  return sizes;
}

/// Whether a plan's sizes are another's but over the steps from one to another, which have a size of their own.
bool changed_only(const schedule::Plan& now, const schedule::Plan& before, std::int64_t from, std::int64_t to,
                  std::int64_t batch) {
  const auto sizes = sizes_of(now), then = sizes_of(before);
  for (std::size_t i = 0; i < std::min(sizes.size(), then.size()); ++i) {
    const auto step = static_cast<std::int64_t>(i) + 1;
    if (sizes[i] != (step >= from && step <= to ? batch : then[i]))
      return false;
  }
  return true;
}

std::int64_t batch_of(const schedule::Plan& plan, std::int64_t step) {
  return sizes_of(plan)[static_cast<std::size_t>(step - 1)];
}

double newest_batch(const OpenRun& run) {
  const auto* sizes = run.history()->find("batch");
  return sizes == nullptr || sizes->values.size() == 0 ? 0 : sizes->values.back();
}

/// A paused run with stretches of two steps ahead: 16, 24, and 32 to the end; and the editor that edits it.
class EditedRun {
public:
  explicit EditedRun(const run::RunSpec& spec = small_run(100'000)) {
    bench_->start_run(spec);
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
      count += kind_text(event) == "edit" && detail_text(event).find("refused") != std::string::npos ? 1 : 0;
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
  void draggingLeavesTheRestAsFineAsItWas_data();
  void draggingLeavesTheRestAsFineAsItWas();
  void aDragKeepsTheTextShort_data();
  void aDragKeepsTheTextShort();
  void plansNothingInItsOwnThread();
  void undoTakesUpTheRampThatWasTypedOver();
  void draggedBackToWhatWasTyped();
  void undoOfADraftWorksWhileARunIsEdited();
  void undoLeavesAFirstBatchThatItDidNotChange();
  void aPlanOnItsWayIsNotOfWhatComesThen();
  void draggedBackIsGivenUp();
  void tellsWhatCanBeDragged();
  void editsThePlanOfARunAndTakesItBack();
  void undoesAfterTheRunHasPassedStretches();
  void undoBringsTheTextOfARunBack();
  void theFutureOfARunStaysAsFineAsItWas();
  void nothingIsDraggedOfARunThatIsOver();
  void aStretchKeepsItsNameWhileTheRunGoesOn();
  void aStretchThatHasPassedIsDraggedNoMore();
  void whatIsWrongStaysSaidWhenAStretchPasses();
};

void TestPlanEditor::plansADraftAndUndoes() {
  QUndoStack undo;
  PlanEditor editor(undo);
  run::RunSpec spec = small_run(100);
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
  QCOMPARE(editor.draft().run_spec().batch.number, 20);
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

void TestPlanEditor::draggingLeavesTheRestAsFineAsItWas_data() {
  QTest::addColumn<QString>("schedule");
  QTest::addRow("linear") << "linear:max=600";
  QTest::addRow("step") << "step:interval=5,increment=1";
}

void TestPlanEditor::draggingLeavesTheRestAsFineAsItWas() {
  QFETCH(const QString, schedule);
  QUndoStack undo;
  PlanEditor editor(undo);
  run::RunSpec spec = small_run(100);
  spec.length = {.epochs = {}, .examples = {}, .steps = 600}; // what counts epochs sees those that a stretch takes
  spec.schedule = schedule.toStdString();
  editor.edit_draft({spec, 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.segments().size() > 10, patience_ms);
  const auto before = editor.plan();
  const schedule::PlanSegment third = editor.segments()[2], fifth = editor.segments()[4];
  const std::int64_t name = editor.name_of(third), other = editor.name_of(fifth);
  const auto end = [](const schedule::PlanSegment& stretch) { return stretch.first_step + stretch.steps - 1; };
  editor.drag(name, 70);
  editor.drag(other, 80);
  editor.drag(other, fifth.batch); // back: its own sizes are there again
  editor.drop(name, 97);
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo() && editor.plan() != before && !editor.has_preview(), patience_ms);
  QVERIFY(changed_only(*editor.plan(), *before, third.first_step, end(third), 97));
  QCOMPARE(editor.draft().batch, 16);
  QVERIFY(undo.undoText().size() < 100);
  const auto after = editor.plan();

  // And again, before the plan of the first drag is there.
  editor.drag(editor.name_of(editor.segments().back()), 90);
  QTRY_VERIFY_WITH_TIMEOUT(sizes_of(*editor.plan()).back() == 90, patience_ms);
  QVERIFY(changed_only(*editor.plan(), *after, editor.segments().back().first_step, to_the_end, 90));
  editor.discard();
  undo.undo();
  QCOMPARE(editor.draft().spec.schedule, schedule.toStdString());
  QCOMPARE(editor.draft().batch, 16);
}

void TestPlanEditor::aDragKeepsTheTextShort_data() {
  QTest::addColumn<QString>("schedule");
  for (const char* schedule : {"linear:max=256", "exponential:max=256,epochs=2", "step:interval=5,increment=1",
                               "adabatch:factor=2,every=1,lr-decay=0.5", "formula:16 + step / 4"})
    QTest::newRow(schedule) << schedule;
}

void TestPlanEditor::aDragKeepsTheTextShort() {
  QFETCH(const QString, schedule);
  QUndoStack undo;
  PlanEditor editor(undo);
  run::RunSpec spec = small_run(100);
  spec.length = {.epochs = 3, .examples = {}, .steps = {}};
  spec.schedule = schedule.toStdString();
  editor.edit_draft({spec, 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.segments().size() > 2, patience_ms);
  const auto before = editor.plan();
  const std::size_t middle = editor.segments().size() / 2;
  const schedule::PlanSegment dragged = editor.segments()[middle];
  editor.drop(editor.name_of(dragged), 300);
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo() && editor.plan() != before && !editor.has_preview(), patience_ms);
  const QString text = editor.schedule();
  QVERIFY2(text.size() <= schedule.size() + 40, qPrintable(text));
  QCOMPARE(batch_of(*editor.plan(), dragged.first_step), 300);
  QCOMPARE(batch_of(*editor.plan(), dragged.first_step - 1), batch_of(*before, dragged.first_step - 1));
  // The first one, too: the batch of the run follows it, and the rest does not.
  const auto once = editor.plan();
  const schedule::PlanSegment first = editor.segments().front();
  editor.drop(editor.name_of(first), 20);
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan() != once && !editor.has_preview(), patience_ms);
  QCOMPARE(editor.draft().batch, 20);
  QCOMPARE(batch_of(*editor.plan(), first.steps), 20);
  QVERIFY2(editor.schedule().size() <= schedule.size() + 60, qPrintable(editor.schedule()));
  undo.undo();
  undo.undo();
  QCOMPARE(editor.schedule(), schedule);
  QCOMPARE(editor.draft().batch, 16);
}

void TestPlanEditor::plansNothingInItsOwnThread() {
  run::RunSpec spec = small_run(100);
  spec.length = {.epochs = 2000, .examples = {}, .steps = {}}; // a million steps
  spec.warmup = "auto";
  spec.lr_reference_batch = 1;
  EditedRun edited(spec);
  PlanEditor& editor = edited.editor();
  const auto before = editor.plan();
  const std::uint64_t planned = schedule::Progression::planned_by_this_thread();
  for (std::int64_t batch = 33; batch < 63; ++batch) { // as a mouse drags
    QVERIFY(editor.drag(to_the_end, batch));
    QCoreApplication::processEvents();
  }
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan() != before && editor.plan()->outline.back().batch == 62, patience_ms);
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  edited.bench()->undo_stack().undo();
  editor.type("linear:max=64");
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan()->outline.back().batch >= 60, patience_ms);
  QCOMPARE(schedule::Progression::planned_by_this_thread(), planned);
}

void TestPlanEditor::undoTakesUpTheRampThatWasTypedOver() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  edited.run().edit({"linear:max=600,steps=200", 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.segments().size() == 24, patience_ms);
  const auto before = editor.plan();
  edited.step();
  QTRY_VERIFY_WITH_TIMEOUT(!edited.run().pending_edit(), patience_ms);
  editor.type("constant");
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  for (int i = 0; i < 3; ++i)
    edited.step();
  edited.bench()->undo_stack().undo();
  edited.step();
  QCOMPARE(editor.schedule(), QString("linear:max=600,steps=200"));
  QCOMPARE(newest_batch(edited.run()),
           static_cast<double>(sizes_of(*before)[static_cast<std::size_t>(edited.run().steps()) - 1]));
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::draggedBackToWhatWasTyped() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  editor.type("step:interval=50,increment=16");
  QTRY_COMPARE_WITH_TIMEOUT(editor.segments().size(), std::size_t{2}, patience_ms);
  editor.drag(to_the_end, 40);
  QCOMPARE(editor.schedule(), QString("piecewise:0=16,50=40"));
  editor.drag(to_the_end, 32);
  QCOMPARE(editor.schedule(), QString("step:interval=50,increment=16"));
  QVERIFY(editor.has_preview());
}

void TestPlanEditor::undoKnowsItsDraft() {
  QUndoStack undo;
  PlanEditor editor(undo);
  editor.edit_draft({small_run(100), 16});
  editor.type("linear:max=64");
  editor.apply();
  QTRY_VERIFY_WITH_TIMEOUT(undo.canUndo(), patience_ms);
  run::RunSpec other = small_run(200);
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
  run::RunSpec spec = small_run(100);
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
  run::RunSpec spec = small_run(100);
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
  run::RunSpec spec = small_run(100);
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

void TestPlanEditor::undoBringsTheTextOfARunBack() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  const QString text = editor.schedule();
  QVERIFY(text.startsWith("piecewise:"));
  editor.drop(to_the_end, 64);
  QTRY_VERIFY_WITH_TIMEOUT(edited.run().pending_edit(), patience_ms);
  for (int i = 0; i < 3; ++i)
    edited.step(); // into the second stretch
  edited.bench()->undo_stack().undo();
  QCOMPARE(QString::fromStdString(edited.run().pending_edit()->schedule), text);
  edited.step();
  QCOMPARE(newest_batch(edited.run()), 24.0);
  for (int i = 0; i < 3; ++i)
    edited.step();
  QCOMPARE(newest_batch(edited.run()), 32.0);
  QCOMPARE(editor.schedule(), text);
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::theFutureOfARunStaysAsFineAsItWas() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  edited.run().edit({"step:interval=250,increment=1", 16});
  QTRY_VERIFY_WITH_TIMEOUT(editor.segments().size() == 24, patience_ms);
  const auto before = editor.plan();
  QVERIFY(!before->outline[4].exact); // several sizes in a stretch
  const schedule::PlanSegment fifth = editor.segments()[4];
  editor.drop(editor.name_of(fifth), 300);
  QTRY_VERIFY_WITH_TIMEOUT(edited.bench()->undo_stack().canUndo(), patience_ms);
  edited.step();
  QTRY_VERIFY_WITH_TIMEOUT(!edited.run().pending_edit() && editor.plan() != before, patience_ms);
  const auto last = fifth.first_step + fifth.steps - 1;
  QCOMPARE(editor.schedule(),
           QString("edited:%1-%2=300,base=step:interval=250,increment=1").arg(fifth.first_step - 1).arg(last));
  QVERIFY(changed_only(*editor.plan(), *before, fifth.first_step, fifth.first_step + fifth.steps - 1, 300));
  edited.bench()->undo_stack().undo();
  edited.step();
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan()->steps == before->steps && sizes_of(*editor.plan()) == sizes_of(*before),
                           patience_ms);
  QCOMPARE(editor.schedule(), QString("step:interval=250,increment=1"));
  QCOMPARE(edited.refused_edits(), 0);
}

void TestPlanEditor::nothingIsDraggedOfARunThatIsOver() {
  EditedRun edited;
  PlanEditor& editor = edited.editor();
  QVERIFY(!plan_stretches(editor).empty());
  bool orphans = false;
  connect(&edited.run(), &OpenRun::status_changed, &editor, [&] { orphans = !plan_stretches(editor).empty(); });
  edited.run().stop();
  QTRY_COMPARE_WITH_TIMEOUT(edited.run().status(), QString("stopped"), patience_ms);
  QVERIFY(!orphans);
  editor.edit_run(&edited.run()); // as when its page is opened once more
  QTRY_VERIFY_WITH_TIMEOUT(editor.plan(), patience_ms);
  QVERIFY(plan_stretches(editor).empty());
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

BATCHSCOPE_TEST(TestPlanEditor)
#include "tst_plan_editor.moc"
