#include <QMenu>
#include <QRegularExpression>
#include <QSignalSpy>

#include "core/base/json.h"
#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/plot/plot_test.h"
#include "ui/schedule/schedule_test.h"
#include "ui/widgets/widgets.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// How often the forms offered were made anew, which comes with all else of the plan that is shown.
class MenuWatch : public QObject {
public:
  explicit MenuWatch(QMenu& menu) : menu_(menu) { menu.installEventFilter(this); }
  int times() const { return menu_.isEmpty() ? 0 : added_ / static_cast<int>(menu_.actions().size()); }

protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    added_ += event->type() == QEvent::ActionAdded ? 1 : 0;
    return QObject::eventFilter(watched, event);
  }

private:
  QMenu& menu_;
  int added_ = 0;
};

run::RunSpec run_of_two_streams() {
  run::RunSpec spec = small_run(100'000);
  spec.model = "mlp:hidden=8";
  spec.data = "a=synthetic:examples=400,shape=1x8x8,classes=4,b=synthetic:examples=99,shape=1x8x8,classes=4";
  spec.shares = "a=0.25,b=0.75";
  return spec;
}

} // namespace

/// The future of a run that goes on, typed and dragged.
class TestRunning : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_typed_schedule_waits_for_its_step_and_is_stored_there();
  void a_stretch_is_dragged_and_applied_and_taken_back();
  void shares_of_streams_are_changed_at_the_next_step();
  void shares_that_come_too_late_are_refused();
  void sizes_that_will_not_fit_are_marked();
  void events_that_come_at_once_are_shown_at_once();
  void an_out_of_memory_is_marked_at_the_size_that_was_tried();
  void a_run_that_is_over_can_be_planned_again();
  void a_run_that_was_stopped_leaves_no_handles();
  void whoever_wants_to_edit_can_type_at_once();
  void draft_and_run_take_turns();
  void what_is_undone_of_a_draft_is_seen();
  void a_narrow_window_is_enough();
  void a_run_that_is_closed_leaves_the_draft_or_nothing();
  void a_program_of_unknown_length_is_planned_for_a_while_ahead();
};

void TestRunning::a_typed_schedule_waits_for_its_step_and_is_stored_there() {
  ScheduleHere here;
  here.begin_paused(small_run(2000));
  QTRY_COMPARE(here.fact("steps"), QString("2,000"));
  QVERIFY(!here.named<QWidget>("first_batch")->isVisible());
  QVERIFY(!here.named("apply")->isEnabled());
  QVERIFY(here.named("apply")->isVisible());
  const std::int64_t done = here.run()->steps();

  here.type("schedule", "nonsense");
  QTRY_VERIFY(here.error_of("schedule").contains("nonsense"));
  QVERIFY(!here.named("apply")->isEnabled());
  here.type("schedule", "step:interval=100,increment=8");
  QTRY_VERIFY(here.named("apply")->isEnabled());
  QVERIFY(!here.run()->pending_edit());
  QTRY_VERIFY(here.fact("largest batch").remove(',').toInt() > 100);
  here.keep_picture("preview");
  here.click(here.named("apply"));
  QTRY_VERIFY(here.run()->pending_edit());
  QVERIFY2(here.texts("header").contains("pending"), qPrintable(here.texts("header")));
  QVERIFY(here.named<QLabel>("says")->text().contains("next step"));
  QCOMPARE(here.run()->steps(), done); // paused: nothing has been put in yet
  here.keep_picture("pending");

  QSignalSpy events(here.run(), &OpenRun::event_came);
  here.run()->resume();
  QTRY_VERIFY_WITH_TIMEOUT(!here.run()->pending_edit(), patience_ms);
  QVERIFY(!here.texts("header").contains("pending"));
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("finished"), patience_ms);
  here.keep_picture("applied");

  const store::RunReader reader(here.database());
  const auto events_stored = reader.events(1);
  const auto edit = std::find_if(events_stored.begin(), events_stored.end(),
                                 [](const telemetry::Event& event) { return kind_text(event) == "edit"; });
  QVERIFY(edit != events_stored.end());
  QCOMPARE(edit->step, done);
  QCOMPARE(Json::parse(detail_text(*edit))["schedule"].get<std::string>(),
           std::string("step:interval=100,increment=8"));
  const auto sizes = reader.series(1, "batch");
  const auto at = [&](std::int64_t step) { return sizes[static_cast<std::size_t>(step - 1)].value; };
  QCOMPARE(at(done), 16.0);
  QCOMPARE(at(done + 100), 16.0);
  QCOMPARE(at(done + 101), 24.0);
}

void TestRunning::a_stretch_is_dragged_and_applied_and_taken_back() {
  ScheduleHere here;
  run::RunSpec spec = small_run(40'000);
  spec.schedule = "step:interval=10000,increment=16";
  here.begin_paused(spec);
  QTRY_COMPARE(here.fact("final batch"), QString("64"));
  const std::int64_t done = here.run()->steps();
  const QString examples = here.fact("examples");
  const QPoint handle = here.handle_at(static_cast<double>(done + 3000));
  QVERIFY(handle.x() >= 0);
  QTest::mousePress(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle);
  for (int moved = 5; moved <= 40; moved += 5)
    QTest::mouseMove(&here.plots(), handle - QPoint(0, moved));
  QTest::mouseRelease(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle - QPoint(0, 40));
  QTRY_VERIFY(here.named("apply")->isEnabled());
  QTRY_VERIFY(here.fact("examples") != examples);
  QVERIFY(!here.run()->pending_edit()); // a run's change waits for a word
  QVERIFY(here.field("schedule")->text().startsWith("piecewise:"));
  here.click(here.named("discard"));
  QTRY_COMPARE(here.field("schedule")->text(), QString("step:interval=10000,increment=16"));
  QVERIFY(!here.named("apply")->isEnabled());
  QTRY_COMPARE(here.fact("examples"), examples);

  const QPoint again = here.handle_at(static_cast<double>(done + 3000));
  QTest::mousePress(&here.plots(), Qt::LeftButton, Qt::NoModifier, again);
  for (int moved = 5; moved <= 40; moved += 5)
    QTest::mouseMove(&here.plots(), again - QPoint(0, moved));
  QTest::mouseRelease(&here.plots(), Qt::LeftButton, Qt::NoModifier, again - QPoint(0, 40));
  QTRY_VERIFY(here.named("apply")->isEnabled());
  QTest::keyClick(&here.plots(), Qt::Key_Return, Qt::ControlModifier);
  QTRY_VERIFY(here.run()->pending_edit());
  QVERIFY(here.run()->pending_edit()->batch.has_value());
  const auto batch = *here.run()->pending_edit()->batch;
  QVERIFY(batch > 16);

  here.run()->step_once();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->steps(), done + 1, patience_ms);
  QTRY_VERIFY(!here.run()->pending_edit());
  QTest::mouseClick(here.named<QToolButton>("undo"), Qt::LeftButton);
  QTRY_VERIFY(here.run()->pending_edit());
  here.run()->step_once();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->steps(), done + 2, patience_ms);
  QTest::mouseClick(here.named<QToolButton>("redo"), Qt::LeftButton);
  QTRY_VERIFY(here.run()->pending_edit());
  here.run()->step_once();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->steps(), done + 3, patience_ms);
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);

  const store::RunReader reader(here.database());
  const auto sizes = reader.series(1, "batch");
  QCOMPARE(sizes.size(), static_cast<std::size_t>(done + 3));
  QCOMPARE(sizes[static_cast<std::size_t>(done)].value, static_cast<double>(batch));
  QCOMPARE(sizes[static_cast<std::size_t>(done + 1)].value, 16.0);
  QCOMPARE(sizes[static_cast<std::size_t>(done + 2)].value, static_cast<double>(batch));
  std::vector<std::int64_t> edited;
  for (const auto& event : reader.events(1))
    if (kind_text(event) == "edit")
      edited.push_back(event.step);
  QCOMPARE(edited, (std::vector<std::int64_t>{done, done + 1, done + 2}));
}

void TestRunning::shares_of_streams_are_changed_at_the_next_step() {
  ScheduleHere here;
  here.begin_paused(run_of_two_streams());
  QTRY_VERIFY(here.field("shares")->isVisible());
  QCOMPARE(here.field("shares")->text(), QString("a=0.25,b=0.75"));
  here.type("shares", "a=0.5,b=0.75");
  QVERIFY2(here.error_of("shares").contains("add up to 1.25"), qPrintable(here.error_of("shares")));
  QVERIFY(!here.named("apply")->isEnabled());
  QTest::keyClick(here.field("shares"), Qt::Key_Escape);
  QCOMPARE(here.field("shares")->text(), QString("a=0.25,b=0.75"));
  QVERIFY(here.error_of("shares").isEmpty());

  here.type("shares", "a=0.75,b=0.25");
  QVERIFY(here.named("apply")->isEnabled());
  here.keep_picture("shares");
  QTest::keyClick(here.field("shares"), Qt::Key_Return);
  QVERIFY(here.run()->pending_shares());
  QVERIFY2(here.texts("header").contains("pending"), qPrintable(here.texts("header")));
  const auto step = [&here](const std::string& shares) {
    const std::int64_t done = here.run()->steps();
    here.run()->step_once();
    QTRY_COMPARE_WITH_TIMEOUT(here.run()->steps(), done + 1, patience_ms);
    QTRY_VERIFY(!here.run()->pending_shares());
    QCOMPARE(here.run()->shares(), shares);
  };
  step("a=0.75,b=0.25");
  QTest::mouseClick(here.named<QToolButton>("undo"), Qt::LeftButton);
  QTRY_COMPARE(here.field("shares")->text(), QString("a=0.25,b=0.75"));
  step("a=0.25,b=0.75");
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
  QTRY_VERIFY(!here.field("shares")->isEnabled());

  const auto examples = store::RunReader(here.database()).series(1, "examples/a");
  QVERIFY(examples.size() > 2);
  QCOMPARE(examples[examples.size() - 3].value, 4.0); // of batches of 16
  QCOMPARE(examples[examples.size() - 2].value, 12.0);
  QCOMPARE(examples[examples.size() - 1].value, 4.0);
}

void TestRunning::shares_that_come_too_late_are_refused() {
  ScheduleHere here;
  here.begin_paused(run_of_two_streams());
  QTRY_VERIFY(here.field("shares")->isVisible());
  QSignalSpy problem(&here.bench(), &Workbench::problem);
  here.run()->stop();
  here.run()->set_shares("a=0.75,b=0.25");
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
  QCOMPARE(problem.count(), 1);
  QVERIFY2(problem[0][0].toString().contains("shares"), qPrintable(problem[0][0].toString()));
  QCOMPARE(here.run()->shares(), std::string("a=0.25,b=0.75"));
}

void TestRunning::sizes_that_will_not_fit_are_marked() {
  ScheduleHere here;
  here.begin_paused(tight_run(500));
  QTRY_VERIFY(!here.fact("predicted peak").isEmpty()); // the run has predicted its own
  QCOMPARE(here.fact("largest batch runs as"), QString("16"));
  const auto next = static_cast<std::size_t>(here.run()->steps());
  here.type("schedule", QString("piecewise:0=16,%1=96").arg(next + 100));
  QTRY_COMPARE(here.fact("largest batch"), QString("96"));
  QCOMPARE(here.fact("largest batch runs as"), QString("2 × 48"));
  QVERIFY(here.texts("cards").contains("Fits as micro batches"));
  here.keep_picture("in-parts");
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::events_that_come_at_once_are_shown_at_once() {
  ScheduleHere here;
  here.begin_paused(small_run(2000));
  QTRY_COMPARE(here.fact("steps"), QString("2,000"));
  MenuWatch watch(*here.page().findChild<QMenu*>());
  const auto events_come = [&here] {
    for (int i = 0; i < 50; ++i)
      Q_EMIT here.run()->event_came(0);
    QCoreApplication::processEvents();
  };
  events_come();
  QCOMPARE(watch.times(), 1);
  here.page().hide();
  events_come();
  QCOMPARE(watch.times(), 1);
  here.page().show();
  QTRY_COMPARE(watch.times(), 2);
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::an_out_of_memory_is_marked_at_the_size_that_was_tried() {
  ScheduleHere here;
  Job* job = here.bench().start_run(growing_run());
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("finished"), patience_ms);
  const telemetry::OutOfMemory* oom = nullptr;
  std::int64_t step = 0;
  for (const telemetry::Event& event : here.run()->events()) {
    const auto* found = std::get_if<telemetry::OutOfMemory>(&event.body);
    if (found && !std::exchange(oom, oom ? oom : found))
      step = event.step;
  }
  QVERIFY(oom && oom->attempted_batch);
  constexpr int batch_panel = 0;
  const auto crosses_at = [&](double y) {
    here.plots().refresh_now();
    const auto place = here.plots().position(batch_panel, static_cast<double>(step), y);
    return place ? count_color(here.plots().grab().toImage(), here.theme().color(Role::error),
                               QRect(place->toPoint() - QPoint(4, 4), QSize(9, 9)))
                 : 0;
  };
  QTRY_VERIFY(crosses_at(static_cast<double>(*oom->attempted_batch)) > 15);
  QVERIFY(crosses_at(static_cast<double>(*oom->attempted_batch) / 2) < 15); // the line through all plots alone
}

void TestRunning::a_run_that_is_over_can_be_planned_again() {
  ScheduleHere here;
  Job* job = here.bench().start_run(small_run(20));
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_VERIFY(here.run() != nullptr && here.run()->status() == "finished");
  QTRY_VERIFY(here.named("again")->isVisible());
  QVERIFY(!here.field("schedule")->isEnabled());
  QVERIFY(!here.named("apply")->isVisible());
  QVERIFY(!here.named("start")->isVisible());
  here.keep_picture("over");
  here.click(here.named("again"));
  QTRY_VERIFY(here.named("start")->isVisible());
  QVERIFY(here.field("schedule")->isEnabled());
  QCOMPARE(here.named<QComboBox>("edited")->currentIndex(), 0);
}

void TestRunning::a_run_that_was_stopped_leaves_no_handles() {
  ScheduleHere here;
  run::RunSpec spec = small_run(40'000);
  spec.schedule = "step:interval=5000,increment=16";
  here.begin_paused(spec);
  QTRY_COMPARE(here.fact("final batch"), QString("128"));
  here.plots().refresh_now();
  QCOMPARE(here.plots().visible_range().second, 40'000.0);
  QVERIFY(here.texts("schedule").contains("Enter"));
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
  here.plots().refresh_now();
  // Nothing stands beyond its last step, unless it is the first: a single step has no width, so a range of two is
  // shown.
  QCOMPARE(here.plots().visible_range().second, static_cast<double>(std::max<std::int64_t>(2, here.run()->steps())));
  QVERIFY2(!here.texts("schedule").contains("Enter"), qPrintable(here.texts("schedule")));
  here.keep_picture("stopped");
}

void TestRunning::whoever_wants_to_edit_can_type_at_once() {
  ScheduleHere here;
  here.begin_paused(small_run(1000));
  here.bench().propose_run(small_run(77)); // the page shows a draft now
  QTRY_COMPARE(here.fact("steps"), QString("77"));
  here.plots().setFocus();
  Q_EMIT here.bench().page_wanted("runs");
  Q_EMIT here.bench().page_wanted("schedule");
  QTRY_VERIFY(here.field("schedule")->hasFocus());
  QTRY_COMPARE(here.fact("steps"), QString("1,000"));
  QTest::keyClicks(QApplication::focusWidget(), "linear:max=64");
  QCOMPARE(here.field("schedule")->text(), QString("linear:max=64"));
  QTRY_VERIFY(here.named("apply")->isEnabled());
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::draft_and_run_take_turns() {
  ScheduleHere here;
  here.begin_paused(small_run(1000));
  QTRY_COMPARE(here.fact("steps"), QString("1,000"));
  auto* edited = here.named<QComboBox>("edited");
  QCOMPARE(edited->count(), 2);
  here.bench().propose_run(small_run(77));
  QTRY_COMPARE(here.fact("steps"), QString("77"));
  QCOMPARE(edited->currentIndex(), 0);
  edited->setFocus();
  QTest::keyClick(edited, Qt::Key_Down);
  QTRY_COMPARE(here.fact("steps"), QString("1,000"));
  QVERIFY(here.named("apply")->isVisible());
  QTest::keyClick(edited, Qt::Key_Up);
  QTRY_COMPARE(here.fact("steps"), QString("77"));
  QVERIFY(here.named("start")->isVisible());
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::what_is_undone_of_a_draft_is_seen() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  here.type("schedule", "linear:max=64");
  here.enter();
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  here.begin_paused(small_run(500));
  QTRY_COMPARE(here.fact("steps"), QString("500"));
  here.bench().undo_stack().undo();
  QTRY_COMPARE(here.fact("steps"), QString("100"));
  QCOMPARE(here.field("schedule")->text(), QString("constant"));
  QVERIFY(here.bench().undo_stack().canRedo());
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::a_narrow_window_is_enough() {
  ScheduleHere here;
  run::RunSpec spec = tight_run(300);
  spec.name = "a run with a name that is by far too long for a box to choose it from, and goes on";
  here.begin_paused(spec);
  here.type("schedule", "linear:max=96");
  QTRY_VERIFY(here.named("apply")->isEnabled());
  const QSize narrow(940, 640); // what the rail leaves of 1024
  here.page().resize(narrow);
  QTRY_COMPARE(here.page().size(), narrow);
  here.keep_picture("narrow");
  auto* apply = here.named("apply");
  QVERIFY(here.page().rect().contains(QRect(apply->mapTo(&here.page(), QPoint()), apply->size())));
  here.run()->stop();
  QTRY_COMPARE_WITH_TIMEOUT(here.run()->status(), QString("stopped"), patience_ms);
}

void TestRunning::a_run_that_is_closed_leaves_the_draft_or_nothing() {
  ScheduleHere here;
  Job* job = here.bench().start_run(small_run(20));
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_VERIFY(here.run() != nullptr && here.run()->status() == "finished");
  QVERIFY(!here.page().findChild<EmptyState*>()->isVisible());
  here.bench().open({});
  QVERIFY(here.page().findChild<EmptyState*>()->isVisible());
  QVERIFY(here.page().state().isEmpty());

  here.bench().propose_run(small_run(33));
  here.bench().open({1});
  QTRY_COMPARE(here.fact("steps"), QString("20")); // read from the database
  QCOMPARE(here.named<QComboBox>("edited")->currentIndex(), 1);
  here.bench().open({});
  QTRY_COMPARE(here.fact("steps"), QString("33"));
  QCOMPARE(here.named<QComboBox>("edited")->currentIndex(), 0);
}

void TestRunning::a_program_of_unknown_length_is_planned_for_a_while_ahead() {
  const ProgramRuns runs;
  ScheduleHere here;
  run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 16, 1000)
step = 0
while True:
    step += 1
    if step == 61:
        wait_for("more")
    if step > 400:
        time.sleep(0.005)
    loader.fetch()
    run.step(loss=1)
)");
  spec.schedule = "step:interval=50,increment=16";
  here.bench().start_run(spec);
  const auto planned_to = [&] {
    const QString text = here.texts("cards");
    const qsizetype at = text.indexOf("drawn up to step ");
    return at < 0 ? 0 : text.mid(at + 17).section(", and", 0, 0).remove(',').toLongLong();
  };
  QTRY_COMPARE_WITH_TIMEOUT(here.run() != nullptr ? here.run()->steps() : 0, 60, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(planned_to(), 3 * (1000 / 16 + 1), patience_ms); // three epochs of the first size
  QCOMPARE(here.fact("steps"), QString());
  here.keep_picture("program-unknown-length");
  runs.allow("more");
  QTRY_VERIFY_WITH_TIMEOUT(here.run()->steps() > 400, patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(planned_to() > here.run()->steps(), patience_ms);

  // A change names the schedule that goes on behind it, which a list of what is drawn would end.
  here.run()->pause();
  QTRY_VERIFY_WITH_TIMEOUT(here.run()->paused(), patience_ms);
  here.plots().setFocus();
  QTest::keyClick(&here.plots(), Qt::Key_Tab);
  QTest::keyClick(&here.plots(), Qt::Key_Up);
  QTRY_VERIFY(here.named("apply")->isEnabled());
  here.click(here.named("apply"));
  // A paused program takes a change over at once, before its stretch has passed.
  QTRY_VERIFY_WITH_TIMEOUT(!here.run()->plan_request().edits.empty(), patience_ms);
  here.run()->resume();
  const std::string edit = here.run()->plan_request().edits.front().schedule;
  QVERIFY2(edit.starts_with("edited:") && edit.ends_with("base=step:interval=50,increment=16"), edit.c_str());

  // The last stretch that is drawn ends where its size does, not where the drawing does.
  here.run()->pause();
  QTRY_VERIFY_WITH_TIMEOUT(here.run()->paused(), patience_ms);
  here.plots().setFocus(Qt::BacktabFocusReason);
  QTest::keyClick(&here.plots(), Qt::Key_Down);
  QTRY_VERIFY(here.named("apply")->isEnabled());
  const QString last = here.field("schedule")->text().section(',', 1, 1);
  QVERIFY2(QRegularExpression("^\\d+-\\d+=\\d+$").match(last).hasMatch(), qPrintable(here.field("schedule")->text()));
  QCOMPARE(last.section('-', 1).section('=', 0, 0).toInt() % 50, 0);
  // Discarded, the plan is drawn as far as before, and not as far as it is known.
  here.click(here.named("discard"));
  QVERIFY(planned_to() > 0 && planned_to() < 10'000);
  here.run()->resume();

  // Undone, the sizes are again those of the schedule.
  here.bench().undo_stack().undo();
  QTRY_VERIFY_WITH_TIMEOUT(here.run()->plan_request().edits.size() == 2, patience_ms);
  const std::int64_t undone = here.run()->plan_request().edits.back().after_step + 1;
  QTRY_VERIFY_WITH_TIMEOUT(here.run()->steps() >= undone, patience_ms);
  const auto& sizes = here.run()->history()->find("batch")->values;
  QCOMPARE(sizes[static_cast<std::size_t>(undone - 1)], 16.0 + 16.0 * static_cast<double>((undone - 1) / 50));
  here.run()->stop();
  QTRY_VERIFY_WITH_TIMEOUT(here.bench().job_queue().idle(), patience_ms);
}

BATCHSCOPE_TEST(TestRunning)
#include "tst_running.moc"
