#include <QFile>
#include <QSignalSpy>

#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_events.h"
#include "test_program.h"
#include "ui/live/live_test.h"
#include "ui/plan/plan_handles.h"
#include "ui/plot/linked_plots.h"
#include "ui/widgets/widgets.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// A real run on the demo images, steered from the page.
class TestLiveRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void nothing_is_open();
  void watched_paused_stepped_and_stopped();
  void the_plan_is_dragged();
  void the_budget_is_dragged();
  void an_ended_run_can_be_run_again();
  void a_run_that_fails_says_why();
  void several_runs_over_each_other();
  void a_new_name_is_shown_at_once();
  void cursors_go_with_their_run();
  void a_run_of_another_program_is_offered();
  void what_another_program_recorded_is_everywhere();
  void hidden_pages_draw_nothing();
  void a_run_that_is_not_there();
  void along_an_axis_that_is_not_known();
  void no_two_commands_are_called_the_same();
  void what_became_of_a_file_of_the_plots_is_told();
};

namespace {

double newest(const OpenRun& run, const char* name) {
  const series::Series* series = run.history()->find(name);
  return series != nullptr && series->values.size() > 0 ? series->values.back() : -1;
}

/// Starts it and waits until it makes steps.
void begin(LiveHere& live, const run::RunSpec& spec) {
  live.bench().start_run(spec);
  QTRY_VERIFY_WITH_TIMEOUT(live.run() != nullptr && live.run()->steps() > 5, patience_ms);
}

/// Paused by its button; so that all that comes next is in the test's hands.
void pause(LiveHere& live) {
  QTRY_VERIFY_WITH_TIMEOUT(live.button("Pause") && live.button("Pause")->isEnabled(), patience_ms);
  QTest::mouseClick(live.button("Pause"), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(live.run()->paused(), patience_ms);
}

/// Where the pointer takes hold of the handle at x: found as a person does, by the pointer's shape.
QPoint handle_at(LiveHere& live, double x) {
  const int column = live.point_at(x).x();
  LinkedPlots& plots = live.plots();
  for (int y = plots.height(); y > 0; y -= 2) {
    QTest::mouseMove(&plots, {column, y});
    QCoreApplication::processEvents();
    if (plots.cursor().shape() == Qt::SizeVerCursor)
      return {column, y};
  }
  return {-1, -1};
}

} // namespace

void TestLiveRun::nothing_is_open() {
  LiveHere live;
  QVERIFY(live.button("Run the demo"));
  QVERIFY(!live.plots().isVisible());
  for (const char* text :
       {"Pause the run", "Run one step", "Stop the run", "Edit the schedule", "Train again with changes"})
    QVERIFY2(!live.action(text)->isEnabled(), text);
  live.keep_picture("empty");
  QSignalSpy wanted(&live.bench(), &Workbench::page_wanted);
  QTest::mouseClick(live.button("New run"), Qt::LeftButton);
  QCOMPARE(wanted.count(), 1);
  QCOMPARE(wanted.takeFirst().at(0).toString(), QString("new-run"));

  QTest::mouseClick(live.button("Run the demo"), Qt::LeftButton);
  QCOMPARE(live.bench().job_queue().jobs().size(), 1);
  Job* job = live.bench().job_queue().jobs().first();
  QCOMPARE(job->kind(), Job::Kind::demo);
  QTRY_VERIFY_WITH_TIMEOUT(live.button("Stop demo"), patience_ms);
  live.keep_picture("before-the-run");
  QTest::mouseClick(live.button("Stop demo"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::cancelled, patience_ms);
}

void TestLiveRun::watched_paused_stepped_and_stopped() {
  LiveHere live;
  begin(live, small_run(2'000'000));
  QVERIFY(live.plots().isVisible());
  QTRY_VERIFY(live.texts("reading-facts").contains("peak memory"));
  QTRY_VERIFY(live.page().findChild<QLabel*>("run-figures")->text().contains(" of 2,000,000"));
  QVERIFY(live.texts("reading-facts").contains("memory budget\n100.0 MB")); // too far away to be drawn
  QCOMPARE(live.page().findChild<QLabel*>("run-status")->text(), QString("running"));
  QVERIFY(!live.button("Step")->isEnabled()); // only a paused run makes single steps

  pause(live);
  QCOMPARE(live.page().findChild<QLabel*>("run-status")->text(), QString("paused"));
  const std::int64_t steps = live.run()->steps();
  live.plots().setFocus();
  QTest::keyClick(&live.plots(), Qt::Key_Period);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->steps(), steps + 1, patience_ms);
  QTest::mouseClick(live.button("Step"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->steps(), steps + 2, patience_ms);
  QVERIFY(live.run()->paused());
  QTRY_VERIFY(
      live.page().findChild<QLabel*>("run-figures")->text().contains(QLocale(QLocale::English).toString(steps + 2)));

  QTest::keyClick(&live.plots(), Qt::Key_Space);
  QTRY_VERIFY_WITH_TIMEOUT(live.run()->status() == "running" && live.run()->steps() > steps + 10, patience_ms);
  QTest::keyClick(&live.plots(), Qt::Key_Period, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("stopped"), patience_ms);
  QVERIFY(!live.action("Pause the run")->isEnabled());
  const store::RunReader reader(live.database());
  const auto row = reader.run(live.run()->id());
  QCOMPARE(row.outcome.status, telemetry::RunStatus::stopped);
  QCOMPARE(row.outcome.steps, live.run()->steps());
}

void TestLiveRun::the_plan_is_dragged() {
  LiveHere live;
  run::RunSpec spec = small_run(40'000);
  spec.schedule = "step:interval=10000,increment=16";
  begin(live, spec);
  pause(live);
  QSignalSpy dropped(&live.plots(), &LinkedPlots::handle_dropped);
  QPoint handle(-1, -1);
  const auto within = static_cast<double>(live.run()->steps() + 3000); // of the stretch that goes on now
  QTRY_VERIFY_WITH_TIMEOUT((handle = handle_at(live, within)).x() >= 0, patience_ms);
  QTest::mousePress(&live.plots(), Qt::LeftButton, Qt::NoModifier, handle);
  for (int moved = 5; moved <= 40; moved += 5)
    QTest::mouseMove(&live.plots(), handle - QPoint(0, moved));
  QCoreApplication::processEvents();
  live.keep_picture("dragging");
  QVERIFY(!live.run()->pending_edit()); // nothing is asked of the run before the handle is let go
  QTest::mouseRelease(&live.plots(), Qt::LeftButton, Qt::NoModifier, handle - QPoint(0, 40));
  QCOMPARE(dropped.count(), 1);
  const auto batch = static_cast<std::int64_t>(dropped.first().at(1).toDouble());
  QVERIFY(batch > 16);
  const QString told = QString("batch, planned\n%1\n").arg(batch); // the pointer is on it still
  QTRY_VERIFY2(live.texts("reading-facts").contains(told), qPrintable(live.texts("reading-facts")));
  QVERIFY(live.run()->pending_edit());
  auto* pending = live.page().findChild<QLabel*>("pending-edit");
  QVERIFY(pending->isVisible());
  live.keep_picture("pending");
  QCOMPARE(newest(*live.run(), "batch"), 16.0);

  const std::int64_t steps = live.run()->steps();
  QTest::mouseClick(live.button("Step"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->steps(), steps + 1, patience_ms);
  QTRY_VERIFY(!pending->isVisible());
  QCOMPARE(newest(*live.run(), "batch"), double(batch));
  QTRY_COMPARE(live.table().model()->index(0, 1).data().toString(), QString("schedule edit applied"));
  QCOMPARE(live.table().model()->index(0, 0).data().toString(), QLocale(QLocale::English).toString(steps));
  const auto is_stored = [&] {
    const store::RunReader reader(live.database());
    const auto batches = reader.series(live.run()->id(), "batch");
    const auto events = reader.events(live.run()->id());
    return !batches.empty() && batches.back().step == steps + 1 && batches.back().value == double(batch) &&
           std::any_of(events.begin(), events.end(), [](const auto& event) { return kind_text(event) == "edit"; });
  };
  QTRY_VERIFY_WITH_TIMEOUT(is_stored(), patience_ms);

  // Taken back: the size that was planned before comes with the next step.
  QVERIFY(live.bench().undo_stack().canUndo());
  live.bench().undo_stack().undo();
  QTest::mouseClick(live.button("Step"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->steps(), steps + 2, patience_ms);
  QTRY_COMPARE(newest(*live.run(), "batch"), 16.0);
  live.run()->stop();
}

void TestLiveRun::the_budget_is_dragged() {
  LiveHere live;
  run::RunSpec spec = small_run(40'000);
  spec.memory_budget = 20'000'000;
  begin(live, spec);
  pause(live);
  QCOMPARE(live.run()->budget(), std::uint64_t{20'000'000});
  Q_EMIT live.plots().handle_dropped(limit_handle, 10);      // MB
  QCOMPARE(live.run()->budget(), std::uint64_t{10'000'000}); // shown at once
  QTest::mouseClick(live.button("Step"), Qt::LeftButton);
  QTRY_COMPARE(live.table().model()->index(0, 1).data().toString(), QString("memory budget changed"));
  QCOMPARE(live.run()->budget(), std::uint64_t{10'000'000});
  // Undone and done again, as changes of the schedule are.
  live.bench().undo_stack().undo();
  QCOMPARE(live.run()->budget(), std::uint64_t{20'000'000});
  live.bench().undo_stack().redo();
  QCOMPARE(live.run()->budget(), std::uint64_t{10'000'000});
  // Below what the weights take: refused, said, and the line goes back.
  QSignalSpy problems(live.run(), &OpenRun::problem);
  live.run()->set_budget(1000);
  QTest::mouseClick(live.button("Step"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(problems.count(), 1, patience_ms);
  QVERIFY(problems.first().first().toString().startsWith("The memory budget was not changed: weights and optimizer"));
  QCOMPARE(live.run()->budget(), std::uint64_t{10'000'000});
  live.run()->stop();
}

void TestLiveRun::an_ended_run_can_be_run_again() {
  LiveHere live;
  Job* job = live.bench().start_run(small_run(30));
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_VERIFY(live.button("Train again"));
  QVERIFY(!live.button("Edit schedule"));
  QSignalSpy proposed(&live.bench(), &Workbench::run_proposed);
  QTest::mouseClick(live.button("Train again"), Qt::LeftButton);
  QCOMPARE(proposed.count(), 1);
  QCOMPARE(proposed.first().at(0).value<run::RunSpec>().model, std::string("mlp:hidden=16"));
}

void TestLiveRun::a_run_that_fails_says_why() {
  LiveHere live;
  run::RunSpec spec = growing_run();
  spec.on_oom = run::OnOom::fail;
  Job* job = live.bench().start_run(spec);
  QTRY_VERIFY_WITH_TIMEOUT(live.run() != nullptr, patience_ms);
  QCoreApplication::processEvents();
  const QPoint plots_then = live.plots().mapTo(&live.page(), QPoint());
  QTRY_VERIFY_WITH_TIMEOUT(job->state() == Job::State::done || job->state() == Job::State::failed, patience_ms);
  QTRY_COMPARE(live.run()->status(), QString("failed"));
  QVERIFY(!live.run()->reason().isEmpty());
  // Said once, in a place of its own: nothing on the page moves.
  QVERIFY(live.named<QLabel>("reason")->isVisible());
  QCOMPARE(live.named<QLabel>("reason")->text(), live.run()->reason());
  QVERIFY(live.page().shows_problem(job->title() + ": " + job->error()));
  QVERIFY(!live.page().shows_problem("something else"));
  QCOMPARE(live.plots().mapTo(&live.page(), QPoint()), plots_then);
  QTRY_VERIFY(live.page().findChild<QWidget*>("oom-card")->isVisible());
  // Examples were lost here: nothing says otherwise.
  QVERIFY(!live.page().findChild<QLabel*>("oom-kept")->isVisible());
  live.keep_picture("failed");
}

void TestLiveRun::several_runs_over_each_other() {
  LiveHere live;
  QList<qint64> ids;
  for (const std::int64_t batch : {8, 16, 32}) {
    run::RunSpec spec = small_run(60);
    spec.name = "batch " + std::to_string(batch);
    spec.batch.number = batch;
    Job* job = live.bench().start_run(spec);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    ids.prepend(live.run()->id());
  }
  live.bench().open(ids);
  for (OpenRun* run : live.bench().opened())
    QTRY_COMPARE_WITH_TIMEOUT(run->status(), QString("finished"), patience_ms);
  live.point_at(30);
  QStringList peaks;
  QSet<QRgb> colors;
  for (const auto& reading : live.plots().readings()) {
    if (reading.panel != memory_panel)
      continue;
    peaks += reading.name;
    colors += reading.color.rgb();
    QVERIFY(reading.value);
  }
  peaks.sort();
  QCOMPARE(peaks, (QStringList{"batch 16", "batch 32", "batch 8"}));
  QCOMPARE(colors.size(), 3);
  // A row a run, each figure whole.
  QTRY_VERIFY(live.texts("reading-runs").contains("batch 8"));
  const auto* reading = live.named<QWidget>("reading-runs");
  int figures = 0;
  for (const auto* label : reading->findChildren<QLabel*>()) {
    if (!label->isVisible() || label->text().isEmpty() || qobject_cast<const ElidedLabel*>(label))
      continue;
    ++figures;
    QVERIFY2(label->width() >= label->fontMetrics().horizontalAdvance(label->text()), qPrintable(label->text()));
    QVERIFY(reading->rect().contains(label->geometry()));
  }
  QCOMPARE(figures, 4 * (1 + 3)); // heads, and those of three runs
  QVERIFY(reading->parentWidget()->rect().contains(reading->geometry()));
  live.keep_picture("several");
  // A run keeps its colour, whatever is beside it.
  const auto color_of = [&](const QString& name) {
    for (const auto& reading : live.plots().readings())
      if (reading.panel == memory_panel && reading.name == name)
        return reading.color;
    return QColor();
  };
  const QColor before = color_of("batch 8");
  QVERIFY(before.isValid());
  live.bench().open({ids[2], ids[0]});
  QCOMPARE(color_of("batch 8"), before);
}

void TestLiveRun::a_new_name_is_shown_at_once() {
  LiveHere live;
  run::RunSpec spec = small_run(30);
  spec.name = "old name";
  Job* job = live.bench().start_run(spec);
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  QTRY_COMPARE(live.named<QLabel>("run-name")->text(), QString("old name"));
  live.bench().run_database().rename(live.run()->id(), "new name");
  QTRY_COMPARE_WITH_TIMEOUT(live.named<QLabel>("run-name")->text(), QString("new name"), patience_ms);
  QCOMPARE(live.run()->name(), QString("new name"));
}

void TestLiveRun::cursors_go_with_their_run() {
  LiveHere live;
  QList<qint64> ids;
  for (int i = 0; i < 2; ++i) {
    Job* job = live.bench().start_run(small_run(30));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    ids += live.run()->id();
  }
  live.plots().set_cursors(5, 20);
  live.bench().open({ids[1], ids[0]}); // the same one, with another beside it
  QVERIFY(live.plots().cursors().first);
  live.bench().open({ids[0]});
  QVERIFY(!live.plots().cursors().first);
  QVERIFY(!live.plots().cursors().second);
}

void TestLiveRun::a_run_of_another_program_is_offered() {
  LiveHere live;
  QVERIFY(!live.named<QPushButton>("watch-other")->isVisible());
  store::RunStore store(live.database());
  run::RunStart start;
  start.batch = 16;
  store::NewRun run;
  run.name = "from a terminal";
  run.spec_json = run::to_json(small_run(100));
  run.start_json = run::to_json(start);
  const auto writer = store.begin(run);
  QTRY_VERIFY_WITH_TIMEOUT(live.named<QPushButton>("watch-other")->isVisible(), patience_ms);
  QVERIFY(live.named<QLabel>("other-run")->text().contains("from a terminal"));
  live.keep_picture("other-program");
  live.click(live.named<QPushButton>("watch-other"));
  QVERIFY(live.run() != nullptr);
  QCOMPARE(live.run()->id(), writer->id());
  // Once it is over, nothing is offered any more.
  writer->finish({.status = telemetry::RunStatus::finished});
  live.bench().open({});
  QTRY_VERIFY_WITH_TIMEOUT(!live.named<QPushButton>("watch-other")->isVisible(), patience_ms);
}

/// A run that has a name, records and events and nothing else, with a series that this program does not know.
void TestLiveRun::what_another_program_recorded_is_everywhere() {
  LiveHere live;
  std::int64_t id = 0;
  {
    store::RunStore store(live.database());
    store::NewRun run;
    run.name = "of another program";
    const auto writer = store.begin(run);
    for (std::int64_t step = 1; step <= 60; ++step) {
      telemetry::StepRecord record;
      record.step = step;
      record.loss = 1.0 / static_cast<double>(step);
      record.more = {{"tokens_per_second", 1000.0 + static_cast<double>(step)}};
      writer->sink().record(record);
    }
    writer->sink().event(event_of(60, 1, "note", R"({"message":"halfway"})"));
    writer->finish({.status = telemetry::RunStatus::finished, .steps = 60});
    id = writer->id();
  }
  live.bench().open({id});
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("finished"), patience_ms);
  QCOMPARE(live.run()->name(), QString("of another program"));
  QVERIFY(!live.run()->spec());
  QVERIFY(!live.action("Train again with changes")->isEnabled());
  // In the table of values and in a plot of its own.
  QTRY_VERIFY2(live.texts("reading-facts").contains("tokens_per_second\n1,060"),
               qPrintable(live.texts("reading-facts")));
  // It is over: what it came to, not what its last step was.
  QVERIFY(live.texts("reading-facts").contains("steps\n60\n"));
  QVERIFY(live.texts("reading-facts").contains("lowest loss\n0.01667\n"));
  QVERIFY(live.texts("reading-facts").contains("out-of-memory errors\n0"));
  const auto readings = live.plots().readings();
  QVERIFY(std::any_of(readings.begin(), readings.end(), [](const auto& reading) {
    return reading.panel == others_panel && reading.name == "tokens_per_second";
  }));
  QVERIFY(live.table().model()->rowCount() > 0);
  live.keep_picture("another-program");
  live.bench().open({});

  const store::RunReader reader(live.database());
  for (const char* format : {"csv", "json"}) {
    const std::filesystem::path file = live.database().parent_path() / (std::string("out.") + format);
    exchange::export_to_file(reader, {id}, format, file, false);
    QFile written(QString::fromStdString(file.string()));
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QByteArray text = written.readAll();
    QVERIFY2(text.contains("tokens_per_second") && text.contains("1060"), format);
  }
}

void TestLiveRun::hidden_pages_draw_nothing() {
  LiveHere live;
  begin(live, small_run(2'000'000));
  live.page().hide();
  QCoreApplication::processEvents();
  const auto drawn = live.plots().refresh_times().size();
  const std::int64_t steps = live.run()->steps();
  QTRY_VERIFY_WITH_TIMEOUT(live.run()->steps() > steps + 500, patience_ms);
  QCOMPARE(live.plots().refresh_times().size(), drawn);
  live.page().show();
  QTRY_VERIFY_WITH_TIMEOUT(live.plots().refresh_times().size() > drawn, patience_ms);
  live.run()->stop();
}

void TestLiveRun::a_run_that_is_not_there() {
  LiveHere live;
  live.bench().open({77});
  const auto* reason = live.named<QLabel>("reason");
  QTRY_VERIFY_WITH_TIMEOUT(reason->isVisible(), patience_ms);
  const auto* card = reason->parentWidget();
  for (const auto* label : card->findChildren<QLabel*>())
    QVERIFY2(!label->text().contains("The run failed"), qPrintable(label->text())); // no run did
  QVERIFY(!live.action("Train again with changes")->isEnabled());
}

/// An imported run knows steps alone: over examples, all its points would be at 0.
void TestLiveRun::along_an_axis_that_is_not_known() {
  LiveHere live;
  {
    store::RunStore store(live.database());
    store::CompleteRun run;
    run.uid = "00000000000000000000000000000001";
    run.started = "2026-01-31T12:00:00Z";
    run.outcome.status = telemetry::RunStatus::finished;
    run.outcome.steps = 30;
    std::vector<store::Point> losses;
    for (std::int64_t step = 1; step <= 30; ++step)
      losses.push_back({step, 2.0 / static_cast<double>(step)});
    run.series = {{"loss", losses}};
    store.add_complete({run});
  }
  live.bench().run_database().refresh();
  auto* axis = live.page().findChild<QComboBox*>("axis");
  axis->setCurrentIndex(static_cast<int>(series::Axis::examples));
  live.bench().open({1});
  QTRY_COMPARE_WITH_TIMEOUT(live.run()->status(), QString("finished"), patience_ms);
  const auto end = [&] {
    live.plots().refresh_now();
    return live.plots().visible_range().second;
  };
  QTRY_COMPARE_WITH_TIMEOUT(end(), 30.0, patience_ms);
  QCOMPARE(axis->currentIndex(), static_cast<int>(series::Axis::examples)); // for runs that know them
  axis->setCurrentIndex(static_cast<int>(series::Axis::clock));             // its start is known, but no step's time
  QTRY_COMPARE_WITH_TIMEOUT(end(), 30.0, patience_ms);
}

void TestLiveRun::no_two_commands_are_called_the_same() {
  LiveHere live;
  QSet<QString> texts;
  for (const QAction* action : live.page().page_actions()) {
    if (action->isSeparator())
      continue;
    QVERIFY2(!texts.contains(action->text()), qPrintable(action->text()));
    texts += action->text();
  }
  for (const char* text : {"Follow the newest", "Logarithmic: Loss", "Clip outliers", "Show all"})
    QVERIFY2(texts.contains(text), text);
}

void TestLiveRun::what_became_of_a_file_of_the_plots_is_told() {
  LiveHere live;
  QSignalSpy notes(&live.bench(), &Workbench::note);
  QSignalSpy problems(&live.bench(), &Workbench::problem);
  const QString file = live.folder() + "/plots.png";
  live.plots().save(LinkedPlots::FileKind::png, file);
  QTRY_COMPARE(notes.count(), 1);
  QVERIFY(notes.first()[0].toString().contains(file));
  QVERIFY(QFile::exists(file));
  live.plots().save(LinkedPlots::FileKind::png, "/nowhere/plots.png");
  QTRY_COMPARE(problems.count(), 1);
  QCOMPARE(notes.count(), 1);
}

BATCHSCOPE_TEST(TestLiveRun)
#include "tst_live_run.moc"
