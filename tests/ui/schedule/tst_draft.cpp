#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QClipboard>
#include <QCompleter>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QListView>
#include <QMenu>
#include <QSignalSpy>

#include "core/run/run_plan.h"
#include "core/store/run_reader.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"
#include "ui/schedule/schedule_test.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

constexpr std::int64_t demo_examples = 8000;

QString number(std::int64_t value) {
  return QLocale().toString(qlonglong(value));
}

schedule::Plan plan_of(const run::RunSpec& spec, std::int64_t batch, std::int64_t examples = demo_examples) {
  schedule::PlanRequest request;
  request.options = run::progression_options(spec, examples, batch);
  return *schedule::make_plan(request);
}

constexpr std::int64_t program_examples = 1000;
constexpr const char* four_epochs = R"(
run._describe(epochs=4)
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    if loader.epoch >= 4:
        break
    run.step(loss=1)
)";

} // namespace

/// What is planned before anything runs.
class TestDraft : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void while_there_is_nothing_one_button_makes_a_draft();
  void a_proposed_run_is_drawn_with_its_facts();
  void typing_previews_entering_applies_and_undo_takes_back();
  void forms_are_offered_and_completed();
  void what_is_wrong_is_said_at_its_field();
  void an_error_moves_nothing_below();
  void a_refused_start_is_said_at_its_field();
  void first_batch_and_length_change_the_plan();
  void what_is_typed_stays_while_the_first_batch_changes();
  void dragging_a_stretch_makes_a_piecewise_schedule();
  void the_axis_holds_still_while_a_stretch_is_dragged();
  void forms_begin_with_the_first_batch();
  void no_stretch_is_dragged_beyond_all_examples();
  void memory_is_predicted_without_running_anything();
  void the_first_batch_is_what_a_search_answered();
  void a_schedule_that_needs_feedback_says_so();
  void clamps_are_listed();
  void the_draft_is_started_and_copied();
  void a_program_is_planned_once_it_was_tested();
  void a_run_of_a_program_becomes_a_draft();
  void a_plan_that_was_proposed_is_shown_beside_an_opened_run();
  void a_program_of_unknown_length_refuses_what_follows_its_length();
  void the_draft_is_kept();
};

void TestDraft::while_there_is_nothing_one_button_makes_a_draft() {
  ScheduleHere here;
  auto* empty = here.page().findChild<EmptyState*>();
  QVERIFY(empty->isVisible());
  QVERIFY(!here.named("start")->isVisible());
  here.keep_picture("empty");
  here.click(empty->findChild<QPushButton*>());
  QVERIFY(!empty->isVisible());
  QTRY_COMPARE(here.fact("steps"), number(plan_of({}, 32).steps));
  QCOMPARE(here.field("first_batch")->text(), QString("32"));
  QVERIFY(here.named("start")->isVisible());
}

void TestDraft::a_proposed_run_is_drawn_with_its_facts() {
  ScheduleHere here;
  run::RunSpec spec = small_run(600);
  spec.schedule = "linear:max=64";
  spec.lr_rule = "linear";
  here.bench().propose_run(spec);
  const schedule::Plan plan = plan_of(spec, 16);
  QTRY_COMPARE(here.fact("steps"), QString("600"));
  QCOMPARE(here.fact("examples"), number(plan.examples));
  QCOMPARE(here.fact("smallest batch"), QString("16"));
  QCOMPARE(here.fact("largest batch"), number(std::llround(plan.history->find("batch")->values.back())));
  QCOMPARE(here.fact("final batch"), here.fact("largest batch"));
  QCOMPARE(here.fact("epochs"), format_number(plan.epochs));
  here.plots().refresh_now();
  QCOMPARE(here.plots().visible_range().second, 600.0);
  here.plots().set_crosshair(300);
  QStringList named;
  for (const auto& reading : here.plots().readings())
    named << reading.name;
  QVERIFY2(named.contains("planned, drag to change"), qPrintable(named.join(", ")));
}

void TestDraft::typing_previews_entering_applies_and_undo_takes_back() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("final batch"), QString("16"));
  here.type("schedule", "step:interval=25,increment=8");
  QTRY_COMPARE(here.fact("final batch"), QString("40"));
  QVERIFY(here.named("discard")->isVisible());
  QVERIFY(!here.bench().undo_stack().canUndo());
  // Escape goes back to what was there.
  QTest::keyClick(here.field("schedule"), Qt::Key_Escape);
  QTRY_COMPARE(here.fact("final batch"), QString("16"));
  QCOMPARE(here.field("schedule")->text(), QString("constant"));

  here.type("schedule", "step:interval=50,increment=8");
  here.enter();
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  QTRY_COMPARE(here.fact("final batch"), QString("24"));
  QVERIFY(!here.named("discard")->isVisible());
  here.keep_picture("draft");

  QTest::mouseClick(here.named<QToolButton>("undo"), Qt::LeftButton);
  QTRY_COMPARE(here.fact("final batch"), QString("16"));
  QCOMPARE(here.field("schedule")->text(), QString("constant"));
  QTest::mouseClick(here.named<QToolButton>("redo"), Qt::LeftButton);
  QTRY_COMPARE(here.fact("final batch"), QString("24"));
  QCOMPARE(here.field("schedule")->text(), QString("step:interval=50,increment=8"));
}

void TestDraft::forms_are_offered_and_completed() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("steps"), QString("100"));
  const auto offered = here.page().findChild<QMenu*>()->actions();
  QVERIFY(offered.size() >= 7);
  here.page().findChild<QMenu*>()->popup({0, 0});
  QTest::keyClick(here.page().findChild<QMenu*>(), Qt::Key_Down);
  QTest::keyClick(here.page().findChild<QMenu*>(), Qt::Key_Down);
  QTest::keyClick(here.page().findChild<QMenu*>(), Qt::Key_Return);
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  QCOMPARE(here.field("schedule")->text(), QString("step:interval=25,increment=16"));
  QTRY_COMPARE(here.fact("final batch"), QString("64"));

  here.type("schedule", "expon");
  auto* popup = here.field("schedule")->completer()->popup();
  QTRY_VERIFY(popup->isVisible());
  QTest::keyClick(popup, Qt::Key_Down);
  QTest::keyClick(popup, Qt::Key_Return);
  QTRY_COMPARE(here.field("schedule")->text(), QString("exponential:max=64"));
  QTRY_COMPARE(here.fact("largest batch"), QString("63"));
}

void TestDraft::what_is_wrong_is_said_at_its_field() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("steps"), QString("100"));
  here.type("schedule", "step:interval=5");
  QTRY_VERIFY(here.error_of("schedule").contains("increment"));
  QVERIFY(!here.named("start")->isEnabled());
  here.enter();
  QVERIFY(!here.bench().undo_stack().canUndo());
  here.keep_picture("wrong");
  QTest::keyClick(here.field("schedule"), Qt::Key_Escape);
  QTRY_VERIFY(here.error_of("schedule").isEmpty());

  // Entered before it could be checked: nothing is applied either.
  here.type("schedule", "formula:batch +");
  here.enter();
  QTRY_VERIFY(!here.error_of("schedule").isEmpty());
  QVERIFY(!here.bench().undo_stack().canUndo());
  QTest::keyClick(here.field("schedule"), Qt::Key_Escape);

  here.type("first_batch", "none");
  QCOMPARE(here.error_of("first_batch"), QString("Enter a whole number, 1 or more"));
  here.type("first_batch", "8001"); // more than there are examples
  QTRY_VERIFY(here.error_of("first_batch").contains("8001"));
  here.type("first_batch", "32");
  QTRY_VERIFY(here.error_of("first_batch").isEmpty());
  here.type("length", "0");
  QVERIFY(!here.error_of("length").isEmpty());
  here.type("length", "50");
  QTRY_COMPARE(here.fact("steps"), QString("50"));
  QVERIFY(here.error_of("length").isEmpty());
}

void TestDraft::an_error_moves_nothing_below() {
  ScheduleHere here;
  here.page().resize(900, 600);
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("steps"), QString("100"));
  const QRect plots = here.plots().geometry();
  const QPoint place = here.plots().mapTo(&here.page(), QPoint());
  here.type("schedule", "#, which is nothing that is offered, and too long for the line beneath a field of a form");
  QTRY_VERIFY(!here.error_of("schedule").isEmpty());
  here.type("length", "0");
  here.type("first_batch", "none");
  QVERIFY(!here.error_of("length").isEmpty() && !here.error_of("first_batch").isEmpty());
  QCoreApplication::processEvents();
  QCOMPARE(here.plots().geometry(), plots);
  QCOMPARE(here.plots().mapTo(&here.page(), QPoint()), place);
  // The field is narrow: while the keyboard is in it, the whole error is seen.
  const auto* whole = here.page().findChild<QLabel*>("whole_error");
  QVERIFY(whole && whole->isVisible());
  QCOMPARE(whole->text(), here.error_of("first_batch"));
  QVERIFY(here.page().rect().contains(QRect(whole->mapTo(&here.page(), QPoint()), whole->size())));
  here.keep_picture("errors-small");
  here.type("first_batch", "16");
  QVERIFY(here.page().findChild<QLabel*>("whole_error") == nullptr);
}

void TestDraft::a_refused_start_is_said_at_its_field() {
  ScheduleHere here;
  const QString file = here.folder() + "/rows.csv";
  const auto write_rows = [&](int count) {
    QFile rows(file);
    QVERIFY(rows.open(QIODevice::WriteOnly));
    rows.write("x,y\n");
    for (int i = 0; i < count; ++i)
      rows.write(i % 2 == 0 ? "1,0\n" : "2,1\n");
  };
  write_rows(400);
  run::RunSpec spec = small_run(30);
  spec.data = "csv:" + file.toStdString() + ",target=y";
  spec.batch.number = 200;
  here.bench().propose_run(spec);
  QTRY_COMPARE(here.fact("steps"), QString("30"));
  QTRY_VERIFY(here.named("start")->isEnabled());
  write_rows(40); // since it was planned
  QSignalSpy wanted(&here.bench(), &Workbench::page_wanted);
  here.click(here.named("start"));
  QTRY_COMPARE(here.bench().job_queue().jobs().size(), 1);
  Job* job = here.bench().job_queue().jobs().first();
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::failed, patience_ms);
  QVERIFY2(!here.error_of("first_batch").isEmpty(), qPrintable(job->error()));
  QCOMPARE(wanted.last()[0].toString(), QString("schedule"));
}

void TestDraft::first_batch_and_length_change_the_plan() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("examples"), QString("1,600"));
  here.type("first_batch", "20");
  QTRY_COMPARE(here.fact("examples"), QString("2,000"));
  auto* unit = here.named<QComboBox>("unit");
  QTest::keyClicks(unit, "epochs");
  here.type("length", "2");
  QTRY_COMPARE(here.fact("examples"), QString("16,000"));
  QCOMPARE(here.fact("steps"), QString("800"));
}

void TestDraft::dragging_a_stretch_makes_a_piecewise_schedule() {
  ScheduleHere here;
  run::RunSpec spec = small_run(100);
  spec.schedule = "step:interval=25,increment=16";
  here.bench().propose_run(spec);
  QTRY_COMPARE(here.fact("final batch"), QString("64"));
  QTRY_VERIFY_WITH_TIMEOUT(!here.fact("predicted peak").isEmpty(), patience_ms); // its plot moves the others
  const QPoint handle = here.handle_at(88);
  QVERIFY(handle.x() >= 0);
  QTest::mousePress(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle);
  for (int moved = 5; moved <= 40; moved += 5)
    QTest::mouseMove(&here.plots(), handle + QPoint(0, moved));
  QTRY_VERIFY(here.named("discard")->isVisible()); // a preview until it is let go
  QTest::mouseRelease(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle + QPoint(0, 40));
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  const QString text = here.field("schedule")->text();
  QVERIFY2(text.startsWith("piecewise:0=16,25=32,50=48,75="), qPrintable(text));
  const int batch = text.mid(text.lastIndexOf('=') + 1).toInt();
  QVERIFY(batch < 64 && batch > 0);
  QTRY_COMPARE(here.fact("final batch"), number(batch));
  here.bench().undo_stack().undo();
  QTRY_COMPARE(here.fact("final batch"), QString("64"));
  QCOMPARE(here.field("schedule")->text(), QString("step:interval=25,increment=16"));

  // By the keyboard: Tab chooses a stretch, the arrows move it.
  here.plots().setFocus();
  QTest::keyClick(&here.plots(), Qt::Key_Tab);
  QTest::keyClick(&here.plots(), Qt::Key_Up);
  QTRY_COMPARE(here.field("schedule")->text(), QString("piecewise:0=17,25=32,50=48,75=64"));
  QTRY_COMPARE(here.fact("smallest batch"), QString("17"));
  QTRY_COMPARE(here.field("first_batch")->text(), QString("17"));
}

void TestDraft::what_is_typed_stays_while_the_first_batch_changes() {
  ScheduleHere here;
  here.bench().propose_run(small_run(100));
  QTRY_COMPARE(here.fact("final batch"), QString("16"));
  here.type("schedule", "step:interval=50,increment=8");
  here.type("first_batch", "20");
  QCOMPARE(here.field("schedule")->text(), QString("step:interval=50,increment=8"));
  QTRY_COMPARE(here.fact("final batch"), QString("28"));
  QVERIFY(here.named("discard")->isVisible()); // still to be entered
  here.enter();
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  here.bench().undo_stack().undo();
  QTRY_COMPARE(here.field("schedule")->text(), QString("constant"));
  QCOMPARE(here.field("first_batch")->text(), QString("20")); // was not part of the change
}

void TestDraft::the_axis_holds_still_while_a_stretch_is_dragged() {
  ScheduleHere here;
  run::RunSpec spec = small_run(100);
  spec.length = {.epochs = 1, .examples = {}, .steps = {}};
  spec.schedule = "linear:max=600";
  here.bench().propose_run(spec);
  const std::int64_t steps = plan_of(spec, 16).steps;
  QTRY_COMPARE(here.fact("steps"), number(steps));
  here.keep_picture("fine");
  QTRY_VERIFY_WITH_TIMEOUT(!here.fact("predicted peak").isEmpty(), patience_ms); // its plot moves the others
  const QPoint handle = here.handle_at(static_cast<double>(steps) - 1.5);
  QVERIFY(handle.x() >= 0);
  const auto range = here.plots().visible_range();
  QTest::mousePress(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle);
  for (int moved = 5; moved <= 90; moved += 5)
    QTest::mouseMove(&here.plots(), handle + QPoint(0, moved));
  QTRY_VERIFY(here.fact("steps") != number(steps)); // smaller at the end: more of them
  here.plots().refresh_now();
  QCOMPARE(here.plots().visible_range(), range);
  QTest::mouseRelease(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle + QPoint(0, 90));
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  here.plots().refresh_now();
  QCOMPARE(number(std::llround(here.plots().visible_range().second)), here.fact("steps"));
  QCOMPARE(here.field("first_batch")->text(), QString("16"));
  QCOMPARE(here.fact("smallest batch"), QString("16"));
  here.keep_picture("dragged");
}

void TestDraft::forms_begin_with_the_first_batch() {
  ScheduleHere here;
  run::RunSpec spec = small_run(100);
  spec.schedule = "linear:max=600"; // its first stretch is of several sizes
  here.bench().propose_run(spec);
  QTRY_COMPARE(here.fact("steps"), QString("100"));
  QStringList offered;
  for (const QAction* form : here.page().findChild<QMenu*>()->actions())
    offered << form->text();
  QVERIFY2(offered.join('\n').contains("piecewise:0=16,50=32"), qPrintable(offered.join('\n')));
}

void TestDraft::no_stretch_is_dragged_beyond_all_examples() {
  ScheduleHere here;
  run::RunSpec spec = small_run(100);
  spec.schedule = "step:interval=50,increment=16";
  here.bench().propose_run(spec);
  QTRY_COMPARE(here.fact("final batch"), QString("32"));
  QTRY_VERIFY_WITH_TIMEOUT(!here.fact("predicted peak").isEmpty(), patience_ms); // its plot moves the others
  const QPoint handle = here.handle_at(75);
  QVERIFY(handle.x() >= 0);
  QTest::mousePress(&here.plots(), Qt::LeftButton, Qt::NoModifier, handle);
  for (int moved = 0; moved < 300; ++moved) { // the axis grows each time
    QMouseEvent move(QEvent::MouseMove, QPointF(handle.x(), -2000 - moved % 2),
                     here.plots().mapToGlobal(QPointF(handle.x(), -2000 - moved % 2)), Qt::NoButton, Qt::LeftButton,
                     Qt::NoModifier);
    QApplication::sendEvent(&here.plots(), &move);
  }
  QTest::mouseRelease(&here.plots(), Qt::LeftButton, Qt::NoModifier, QPoint(handle.x(), -2000));
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  QCOMPARE(here.field("schedule")->text(), QString("piecewise:0=16,50=%1").arg(demo_examples));
}

void TestDraft::memory_is_predicted_without_running_anything() {
  ScheduleHere here;
  run::RunSpec spec = tight_run(40);
  spec.schedule = "linear:max=96";
  here.bench().propose_run(spec);
  QTRY_COMPARE(here.fact("steps"), QString("40"));
  QTRY_VERIFY_WITH_TIMEOUT(!here.fact("predicted peak").isEmpty(), patience_ms);
  QVERIFY(here.bench().job_queue().jobs().isEmpty());
  QVERIFY(!here.named("predict")->isVisible());
  QCOMPARE(here.fact("largest batch"), QString("94"));
  QVERIFY(here.fact("largest batch runs as").startsWith("2 × "));
  QCOMPARE(here.fact("budget"), QString("24.0 MB"));
  here.keep_picture("memory");

  // A larger batch needs more, at once; a net that fits nowhere is said to.
  here.type("first_batch", "20");
  QTRY_COMPARE(here.fact("smallest batch"), QString("20"));
  QVERIFY(!here.fact("predicted peak").isEmpty());
  spec.model = "cnn:width=1024";
  here.bench().propose_run(spec);
  QTRY_COMPARE_WITH_TIMEOUT(here.fact("largest batch runs as"), QString("does not fit"), patience_ms);

  // What cannot be predicted so is offered as probes.
  spec.device = "cuda:0";
  here.bench().propose_run(spec);
  QTRY_VERIFY_WITH_TIMEOUT(here.named("predict")->isVisible(), patience_ms);
  QVERIFY(here.fact("predicted peak").isEmpty());
}

void TestDraft::the_first_batch_is_what_a_search_answered() {
  ScheduleHere here;
  run::RunSpec spec = tight_run(40);
  spec.batch = {run::BatchChoice::Kind::largest, 0};
  here.bench().propose_run(spec);
  QCOMPARE(here.field("first_batch")->text(), QString("32")); // nothing is known of what fits

  spec.max_batch = 5;
  Job* search = here.bench().start_search({.spec = spec, .strategy = "power", .start = {}});
  QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
  here.bench().propose_run(spec);
  QCOMPARE(here.field("first_batch")->text(), QString("5"));

  // Where no search asked the same, the safe size by what is predicted.
  spec.max_batch.reset();
  spec.batch.kind = run::BatchChoice::Kind::safe;
  Job* prediction = here.bench().job_queue().predict(spec);
  QTRY_COMPARE_WITH_TIMEOUT(prediction->state(), Job::State::done, patience_ms);
  here.bench().propose_run(spec);
  const std::int64_t safe = here.field("first_batch")->text().toInt();
  const auto peak = [&](std::int64_t batch) { return static_cast<double>(prediction->predicted()->at(batch).bytes); };
  QVERIFY(peak(safe) <= 0.8 * 24'000'000);
  QVERIFY(peak(safe + 1) > 0.8 * 24'000'000);
}

void TestDraft::a_schedule_that_needs_feedback_says_so() {
  ScheduleHere here;
  run::RunSpec spec = small_run(100);
  spec.schedule = "formula:batch + 16 / loss";
  here.bench().propose_run(spec);
  QTRY_VERIFY(here.named<QLabel>("feedback")->isVisible());
  QVERIFY(here.named<QLabel>("feedback")->text().contains("cannot be known"));
  QVERIFY(here.named("start")->isEnabled());
  here.keep_picture("feedback");
}

void TestDraft::clamps_are_listed() {
  ScheduleHere here;
  run::RunSpec spec = small_run(40);
  spec.max_batch = 50;
  spec.schedule = "step:interval=10,increment=16";
  here.bench().propose_run(spec);
  auto* clamps = here.named<QListView>("clamps");
  const QAbstractItemModelTester tester(clamps->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
  const schedule::Plan plan = plan_of(spec, 16);
  const auto within = std::count_if(plan.events.begin(), plan.events.end(),
                                    [&](const schedule::ScheduleEvent& event) { return event.step < plan.steps; });
  QVERIFY(within > 0);
  QTRY_COMPARE(clamps->model()->rowCount(), static_cast<int>(within));
  QVERIFY(clamps->isVisible());
  QVERIFY(clamps->model()->index(0, 0).data().toString().contains("50"));
  here.keep_picture("clamps");
  here.bench().propose_run(small_run(40));
  QTRY_VERIFY(!clamps->isVisible());
}

void TestDraft::the_draft_is_started_and_copied() {
  ScheduleHere here;
  here.bench().propose_run(small_run(30));
  QTRY_COMPARE(here.fact("steps"), QString("30"));
  here.type("schedule", "step:interval=10,increment=8");
  here.enter();
  QTRY_VERIFY(here.bench().undo_stack().canUndo());
  here.click(here.named("copy"));
  QCOMPARE(QApplication::clipboard()->text(),
           QString("batchscope-cli train --model mlp:hidden=16 --data demo --batch 16 "
                   "--schedule step:interval=10,increment=8 --steps 30 --memory-budget 100MB --db ") +
               QString::fromStdString(here.database().string()));

  // Typed and not entered: it is what is started.
  here.type("schedule", "step:interval=10,increment=16");
  here.click(here.named("start"));
  QTRY_COMPARE(here.bench().job_queue().jobs().size(), 1);
  Job* job = here.bench().job_queue().jobs().first();
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  const store::RunReader reader(here.database());
  const auto spec = run::run_spec_from_json(reader.spec_json(1));
  QCOMPARE(spec.schedule, std::string("step:interval=10,increment=16"));
  QCOMPARE(run::to_string(spec.batch), std::string("16"));
  std::vector<double> sizes;
  for (const auto& point : reader.series(1, "batch"))
    sizes.push_back(point.value);
  QCOMPARE(sizes.size(), std::size_t(30));
  QCOMPARE(sizes.front(), 16.0);
  QCOMPARE(sizes.back(), 48.0);
}

void TestDraft::a_program_is_planned_once_it_was_tested() {
  const ProgramRuns runs;
  ScheduleHere here;
  run::RunSpec spec = runs.loader(four_epochs);
  here.bench().propose_plan(spec);
  QVERIFY(here.page().findChild<EmptyState*>()->isVisible()); // nothing is known of it yet
  const Job* tested = here.bench().job_queue().try_out(spec);
  QTRY_COMPARE_WITH_TIMEOUT(tested->state(), Job::State::done, patience_ms);
  here.bench().propose_plan(spec);
  run::RunSpec same;
  same.length = {.epochs = 4, .examples = {}, .steps = {}};
  QTRY_COMPARE(here.fact("steps"), number(plan_of(same, 16, program_examples).steps));
  QCOMPARE(here.field("first_batch")->text(), QString("16"));
  QVERIFY(!here.named<QWidget>("length")->isVisible() && !here.named<QWidget>("unit")->isVisible());
  QCOMPARE(here.fact("final learning rate"), QString()); // which only the program knows
  QVERIFY(here.texts("cards").contains("measures the memory of this program"));
  QVERIFY(!here.named("predict")->isVisible());

  here.type("schedule", "step:interval=10,increment=16");
  here.enter();
  same.schedule = "step:interval=10,increment=16";
  const schedule::Plan plan = plan_of(same, 16, program_examples);
  QTRY_COMPARE(here.fact("steps"), number(plan.steps));
  here.keep_picture("program-draft");
  here.click(here.named("start"));
  const Job* job = here.bench().job_queue().jobs().last();
  QTRY_VERIFY_WITH_TIMEOUT(job->over(), patience_ms);
  QCOMPARE(job->error(), QString());
  const store::RunReader reader(here.database());
  QCOMPARE(reader.run(1).outcome.steps, plan.steps);
  const auto sizes = reader.series(1, "batch");
  const auto& planned = plan.history->find("batch")->values;
  QCOMPARE(sizes.size(), planned.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    QCOMPARE(sizes[i].value, planned[i]);

  // Without an attached Trainer it keeps the size that it begins with.
  here.page().findChild<QComboBox*>("edited")->setCurrentIndex(0);
  Q_EMIT here.page().findChild<QComboBox*>("edited")->activated(0);
  here.type("first_batch", "20");
  QTRY_VERIFY(here.error_of("first_batch").contains("begins with its own size"));
  QVERIFY(!here.named("start")->isEnabled());
  here.type("first_batch", "16");
  QTRY_COMPARE(here.error_of("first_batch"), QString());
  QTRY_VERIFY(here.named("start")->isEnabled());
}

void TestDraft::a_run_of_a_program_becomes_a_draft() {
  const ProgramRuns runs;
  ScheduleHere here;
  const Job* job = here.bench().start_run(runs.loader(four_epochs));
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_VERIFY_WITH_TIMEOUT(here.named("again")->isVisible(), patience_ms);
  here.click(here.named("again"));
  QTRY_VERIFY(here.named("start")->isVisible() && here.named("start")->isEnabled());
  QTRY_COMPARE(here.fact("steps"), QString("252"));
  // It is kept, with what the program has said.
  ScheduleHere later;
  later.page().restore(QJsonDocument::fromJson(QJsonDocument(here.page().state()).toJson()).object());
  QTRY_COMPARE(later.fact("steps"), QString("252"));
  QCOMPARE(later.field("first_batch")->text(), QString("16"));
}

void TestDraft::a_plan_that_was_proposed_is_shown_beside_an_opened_run() {
  ScheduleHere here;
  const Job* job = here.bench().start_run(small_run(30));
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE_WITH_TIMEOUT(here.fact("steps"), QString("30"), patience_ms);
  QSignalSpy shown(&here.bench(), &Workbench::page_wanted);
  here.bench().propose_plan(small_run(70));
  QCOMPARE(shown.size(), 1);
  QCoreApplication::processEvents(); // the page takes the keyboard
  QTRY_COMPARE(here.fact("steps"), QString("70"));
  QVERIFY(here.named("start")->isVisible());
  Q_EMIT here.bench().page_wanted("schedule"); // to edit the run
  QTRY_COMPARE(here.fact("steps"), QString("30"));
}

void TestDraft::a_program_of_unknown_length_refuses_what_follows_its_length() {
  const ProgramRuns runs;
  ScheduleHere here;
  const run::RunSpec spec = runs.loader(R"(
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    run.step(loss=1)
)");
  const Job* tested = here.bench().job_queue().try_out(spec);
  QTRY_COMPARE_WITH_TIMEOUT(tested->state(), Job::State::done, patience_ms);
  here.bench().propose_plan(spec);
  QTRY_VERIFY(here.texts("cards").contains("drawn up to step 189"));
  here.type("schedule", "linear:max=64");
  QTRY_VERIFY(here.error_of("schedule").contains("follows the whole run"));
  QVERIFY(!here.named("start")->isEnabled());
  here.type("schedule", "linear:max=64,epochs=10");
  QTRY_VERIFY(here.named("start")->isEnabled());
}

void TestDraft::the_draft_is_kept() {
  QJsonObject state;
  {
    ScheduleHere here;
    QVERIFY(here.page().state().isEmpty());
    run::RunSpec spec = small_run(70);
    spec.schedule = "linear:max=32";
    here.bench().propose_run(spec);
    state = QJsonDocument::fromJson(QJsonDocument(here.page().state()).toJson()).object();
  }
  ScheduleHere here;
  here.page().restore({{"draft", "{\"model\": 3}"}});
  QVERIFY(here.page().findChild<EmptyState*>()->isVisible());
  here.page().restore(state);
  QTRY_COMPARE(here.fact("steps"), QString("70"));
  QCOMPARE(here.field("schedule")->text(), QString("linear:max=32"));
  QCOMPARE(here.page().state(), state);
}

BATCHSCOPE_TEST(TestDraft)
#include "tst_draft.moc"
