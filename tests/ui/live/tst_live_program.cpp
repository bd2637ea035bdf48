#include <QSignalSpy>
#include <QTest>

#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/live/live_test.h"
#include "ui/output/output_text.h"
#include "ui/plan/plan_editor.h"
#include "ui/plan/plan_handles.h"
#include "ui/widgets/commands.h"
#include "ui/workbench/output_box.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

double newest_value(const OpenRun& run, const char* name) {
  const series::Series* series = run.history()->find(name);
  return series == nullptr || series->values.size() == 0 ? 0 : series->values.back();
}

/// Changes the last segment of the plan, again if it has not been computed yet.
void drop_end(LiveHere& here, double batch) {
  QTRY_VERIFY_WITH_TIMEOUT(
      [&] {
        Q_EMIT here.plots().handle_dropped(PlanEditor::to_the_end, batch);
        return here.run()->pending_edit().has_value() || newest_value(*here.run(), "batch") == batch;
      }(),
      patience_ms);
}

/// Ends the run that the page shows.
void end_run(LiveHere& here) {
  here.run()->stop();
  QTRY_VERIFY_WITH_TIMEOUT(!here.run()->running(), patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
}

} // namespace

/// Runs of programs of the user's own, at every level of what works on them.
class TestLiveProgram : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void dragging_the_plan_changes_the_next_step() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.loader(R"(
loader = Sizes(run, 16, 1000)
run._describe(epochs=500)
while True:
    loader.fetch()
    run.step(loss=1)
    time.sleep(0.005)
)"));
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->plannable(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->steps() > 3, patience_ms);
    QCOMPARE(newest_value(*here.run(), "batch"), 16.0);
    QVERIFY(here.action("Edit the schedule")->isEnabled());
    QCOMPARE(here.run()->start()->train_examples, 1000);
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->expected_steps().has_value(), patience_ms);
    drop_end(here, 8);
    QTRY_COMPARE_WITH_TIMEOUT(newest_value(*here.run(), "batch"), 8.0, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!here.run()->pending_edit(), patience_ms);
    end_run(here);
    QCOMPARE(here.run()->status(), QString("stopped"));
  }

  /// A stretch may be held by the pointer when its program dies.
  void a_stretch_that_is_let_go_after_the_end_is_refused() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.loader(R"(
loader = Sizes(run, 16, 1000)
run._describe(epochs=1)
for step in range(3):
    loader.fetch()
    run.step(loss=1)
os.kill(os.getpid(), 9)
)"));
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->status() == "failed", patience_ms);
    QSignalSpy problem(&here.bench(), &Workbench::problem);
    Q_EMIT here.plots().handle_dropped(PlanEditor::to_the_end, 8);
    QCOMPARE(problem.count(), 1);
    QCOMPARE(problem[0][0].toString(), QString("The plan was not changed: the run has ended"));
  }

  void a_program_that_only_reports_cannot_be_steered() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.python(R"(
import batchscope, time
run = batchscope.start()
step = 0
while not run.stopping:
    step += 1
    run.report(step, loss=1 / step)
    time.sleep(0.005)
)"));
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->steps() > 3, patience_ms);
    const QAction& edit = *here.action("Edit the schedule");
    QTRY_VERIFY_WITH_TIMEOUT(why_not(edit).contains("level 1"), patience_ms);
    QVERIFY(!here.run()->plannable());
    QVERIFY(!here.run()->expected_steps());
    QSignalSpy problem(&here.bench(), &Workbench::problem);
    Q_EMIT here.plots().handle_dropped(PlanEditor::to_the_end, 8);
    QCOMPARE(problem.count(), 1);
    QVERIFY2(problem[0][0].toString().contains("level 1"), qPrintable(problem[0][0].toString()));
    here.run()->pause();
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->paused(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.action("Run one step")->isEnabled(), patience_ms);
    end_run(here);
  }

  void a_program_that_says_nothing_can_be_paused_and_stopped() {
    const ProgramRuns runs;
    LiveHere here;
    run::RunSpec spec = runs.command({"sleep", "600"});
    spec.program->grace = 1;
    here.bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->running(), patience_ms);
    QCOMPARE(here.run()->name(), QString("sleep"));
    QVERIFY(why_not(*here.action("Edit the schedule")).contains("level 0"));
    here.run()->pause();
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->paused(), patience_ms);
    QVERIFY(why_not(*here.action("Run one step")).contains("level 0"));
    end_run(here);
    QCOMPARE(here.run()->status(), QString("stopped"));
  }

  void what_a_program_does_not_report_is_not_shown() {
    const ProgramRuns runs;
    LiveHere here;
    run::RunSpec spec = runs.command({"sh", "-c", "for i in 1 2 3; do echo loss=0.$i; done"});
    spec.program->metrics = {{"loss", "loss=([0-9.]+)"}};
    here.bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->status() == "finished", patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(
        here.texts("reading-facts").contains("loss") && !here.texts("reading-facts").contains("batch"), patience_ms);
    QVERIFY2(!here.texts("reading-facts").contains("NaN"), qPrintable(here.texts("reading-facts")));
    QVERIFY(!here.named<QLabel>("run-figures")->text().contains("epoch"));
  }

  void an_error_that_a_program_survived_is_no_failed_run() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.loader(R"(
loader = Sizes(run, 16, 64)
run._describe(epochs=1, device="cpu")
error = {"requested_bytes": 13_600_000, "in_use_bytes": 552_000_000, "limit_bytes": 210_000_000, "error": "MemoryError"}
for step in range(4):
    loader.fetch()
    if step == 1:
        run._event_at(2, "oom", dict(error, attempted_batch=16, where="training", outcome="split", split_to=8))
    run.step(loss=1)
)"));
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->status() == "finished", patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.texts("oom-card").contains("Out of memory at step 2"), patience_ms);
    const QString card = here.texts("oom-card");
    QVERIFY2(card.contains("micro batches of at most <b>8</b> instead of <b>16</b>"), qPrintable(card));
    QVERIFY2(card.contains("no example lost, learning rate unchanged"), qPrintable(card));
    QVERIFY2(!card.contains("ends") && !card.contains("failed"), qPrintable(card));
    // The process has 552 MB with its libraries, of which the budget counts a part.
    QVERIFY2(here.texts("oom-facts").contains("in use, with libraries") &&
                 !here.texts("oom-facts").contains("short by"),
             qPrintable(here.texts("oom-facts")));
  }

  void a_program_that_failed_is_shown_with_its_last_lines() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.python("def load(name):\n    return dict()[name]\n\nload('train')"));
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->status() == "failed", patience_ms);
    QCOMPARE(here.named<QLabel>("reason")->text(), QString("exit status 1: KeyError: 'train'"));
    auto& output = *here.page().findChild<OutputBox*>();
    QVERIFY(output.isVisible());
    QVERIFY(output.toPlainText().startsWith("Traceback"));
    QVERIFY(output.toPlainText().endsWith("KeyError: 'train'"));
  }

  void the_output_of_a_program_is_a_tab_beside_its_events() {
    const ProgramRuns runs;
    LiveHere here;
    here.bench().start_run(runs.command({"sh", "-c", "echo epoch 1; printf '50%%\\r100%%'; exec sleep 600"}));
    QTRY_VERIFY_WITH_TIMEOUT(here.tabs().isVisible(), patience_ms);
    QTest::mouseClick(&here.tabs(), Qt::LeftButton, {}, here.tabs().tabRect(1).center());
    auto& output = *here.page().findChild<OutputText*>();
    QTRY_COMPARE_WITH_TIMEOUT(output.toPlainText(), QString("epoch 1\n100%"), patience_ms);
    QVERIFY(here.run()->running());
    here.keep_picture("output");
    QTest::keyClick(&output, Qt::Key_Space); // still the key of the run
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->paused(), patience_ms);
    QTest::mouseClick(&here.tabs(), Qt::LeftButton, {}, here.tabs().tabRect(0).center());
    here.plots().setFocus();
    QTest::keyClick(&here.plots(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(output.isVisible());
    QTest::keyClicks(QApplication::focusWidget(), "epoch 1");
    QCOMPARE(here.named<QLabel>("output-hits")->text(), QString("1 of 1"));
    here.keep_picture("output-search");
    end_run(here);
    // Another run has none; the tab that was chosen is there again for the next program.
    here.bench().start_run(small_run(3));
    QTRY_VERIFY_WITH_TIMEOUT(here.run()->spec() && !here.run()->spec()->program, patience_ms);
    QVERIFY(!here.tabs().isVisible());
    QVERIFY(here.table().isVisible());
    QVERIFY(!why_not(*here.action("Search the program's output")).isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
    QVERIFY(here.page().state()["output"].toBool());
    here.bench().open({1});
    QTRY_VERIFY_WITH_TIMEOUT(output.isVisible() && output.toPlainText() == "epoch 1\n100%", patience_ms);
  }

  /// The readings of a program on the host are of its process, and its budget is of its training.
  void readings_that_the_budget_does_not_limit_are_named() {
    const ProgramRuns runs;
    LiveHere here;
    run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 16, 1000)
run._describe(epochs=500)
while True:
    loader.fetch()
    run.step(loss=1, allocated_bytes=11600000, reserved_bytes=20000000, peak_bytes=24000000)
    time.sleep(0.005)
)");
    spec.memory_budget = 8'000'000'000;
    here.bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(here.run() && here.run()->steps() > 3, patience_ms);
    QVERIFY(here.run()->reads_whole_process());
    QTRY_VERIFY_WITH_TIMEOUT(here.texts("reading-facts").contains("RAM since start"), patience_ms);
    QCOMPARE(budget_label(8e6, here.run()), QString("budget 8.0 MB + libraries"));
    QCOMPARE(budget_label(8e6, nullptr), QString("budget 8.0 MB"));
    end_run(here);
  }

  void a_run_that_another_process_makes_is_shown_alike() {
    const ProgramRuns runs;
    LiveHere here;
    {
      store::RunStore store(here.database());
      const auto source = program::open_program(runs.loader(R"(
loader = Sizes(run, 16, 1000)
run._describe(epochs=1)
for step in range(3):
    loader.fetch()
    run.step(loss=1)
)"));
      job::Watch watch;
      const auto control = std::make_shared<run::JobControl>();
      job::run_and_store(*source, runs.command({"train"}), {}, store, {}, watch, control);
    }
    here.bench().open({1});
    QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("finished"), patience_ms);
    QCOMPARE(here.run()->steps(), 3);
    QCOMPARE(here.run()->name(), QString("pretended"));
    QVERIFY(here.run()->plannable());
  }
};

BATCHSCOPE_TEST(TestLiveProgram)
#include "tst_live_program.moc"
