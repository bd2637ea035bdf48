#include <QSignalSpy>
#include <QTest>

#include "test_program.h"
#include "ui/live/plan_layer.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The future of a run upon the plots.
class TestPlanLayer : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_plan_that_comes_before_the_curves_is_drawn_with_them();
  void a_handle_that_is_let_go_too_late_says_so();
};

namespace {

/// A paused run, and plots of the page's.
struct PausedRun {
  PausedRun() {
    LiveCurves::add_panels(plots);
    bench->start_run(small_run(100'000));
    QTRY_VERIFY_WITH_TIMEOUT(bench->current() && bench->current()->steps() > 5, patience_ms);
    run().pause();
    QTRY_VERIFY_WITH_TIMEOUT(run().paused(), patience_ms);
  }
  ~PausedRun() {
    run().stop();
    [this] { QTRY_COMPARE_WITH_TIMEOUT(run().status(), QString("stopped"), patience_ms); }();
  }
  OpenRun& run() { return *bench->current(); }

  Theme theme;
  WorkbenchHere bench;
  LinkedPlots plots{theme};
};

} // namespace

void TestPlanLayer::a_plan_that_comes_before_the_curves_is_drawn_with_them() {
  PausedRun paused;
  PlanLayer layer(paused.plots, paused.bench->undo_stack());
  layer.editor().edit_run(&paused.run()); // as where it was being read when the curves were made
  QTRY_VERIFY_WITH_TIMEOUT(layer.editor().plan(), patience_ms);
  QVERIFY(layer.curves().empty());
  layer.show(&paused.run(), series::Axis::step, std::nullopt);
  QVERIFY(!layer.curves().empty());
  QVERIFY(layer.curves().back().source->extent());
}

void TestPlanLayer::a_handle_that_is_let_go_too_late_says_so() {
  PausedRun paused;
  PlanLayer layer(paused.plots, paused.bench->undo_stack());
  layer.show(&paused.run(), series::Axis::step, std::nullopt);
  QTRY_VERIFY_WITH_TIMEOUT(!layer.editor().segments().empty(), patience_ms);
  QSignalSpy problems(&layer, &PlanLayer::problem);
  Q_EMIT paused.plots.handle_dropped(paused.run().steps() - 1, 40); // a stretch that ended there
  QCOMPARE(problems.count(), 1);
  QVERIFY(problems.first().first().toString().contains("passed"));
  QVERIFY(!paused.run().pending_edit());

  // A size that the run may not have is refused, and the handle goes back.
  Q_EMIT paused.plots.handle_dropped(PlanEditor::to_the_end, 8001);
  QTRY_COMPARE_WITH_TIMEOUT(problems.count(), 2, patience_ms);
  QVERIFY2(problems.last().first().toString().contains("8000"), qPrintable(problems.last().first().toString()));
  QVERIFY(!layer.editor().has_preview());
  QCOMPARE(layer.editor().segments().back().batch, 16);
  QVERIFY(!paused.run().pending_edit());

  Q_EMIT paused.plots.handle_dropped(PlanEditor::to_the_end, 40);
  QTRY_VERIFY_WITH_TIMEOUT(paused.run().pending_edit(), patience_ms);
  QCOMPARE(problems.count(), 2);
}

BATCHSCOPE_TEST(TestPlanLayer)
#include "tst_plan_layer.moc"
