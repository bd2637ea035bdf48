#include <QClipboard>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QInputDialog>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryFile>
#include <QTest>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/output/output_text.h"
#include "ui/runs/run_columns.h"
#include "ui/runs/run_table.h"
#include "ui/runs/runs_page.h"
#include "ui/runs/runs_test.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// Stores runs that have ended: their names, batches 16, 32, ...
std::vector<std::int64_t> store_runs(const std::filesystem::path& database, const QStringList& names) {
  store::RunStore store(database);
  std::vector<std::int64_t> ids;
  for (const QString& name : names) {
    run::RunSpec spec = small_run(10);
    spec.batch.number = 16 * (std::int64_t(ids.size()) + 1);
    store::NewRun run;
    run.name = name.toStdString();
    run.spec_json = run::to_json(spec);
    telemetry::RunOutcome outcome = finished_run(std::int64_t(ids.size()) + 1).outcome;
    ids.push_back(store.add_finished(run, outcome));
  }
  return ids;
}

/// The page, shown, on a real database.
struct PageHere {
  explicit PageHere(const QStringList& names = {}) {
    if (!names.isEmpty())
      ids = store_runs(bench.database(), names);
    bench->run_database().refresh();
    page.resize(1300, 700);
    page.show();
    if (!QTest::qWaitForWindowActive(&page))
      qFatal("the page was not shown");
    if (!QTest::qWaitFor(
            [&] { return bench->run_database().loaded() && bench->run_database().runs().size() == ids.size(); },
            patience_ms))
      qFatal("the runs were not read");
    table->setFocus();
  }

  QModelIndex cell(std::int64_t id, int column) const {
    for (int row = 0; row < table->model()->rowCount(); ++row)
      if (table->model()->index(row, id_column).data().toString() == QString::number(id))
        return table->model()->index(row, column);
    return {};
  }
  QString text(std::int64_t id, int column) const { return cell(id, column).data().toString(); }
  void click(std::int64_t id, Qt::KeyboardModifiers keys = {}, int column = name_column) {
    const QModelIndex index = cell(id, column);
    table->scrollTo(index);
    QTest::mouseClick(table->viewport(), Qt::LeftButton, keys, table->visualRect(index).center());
  }
  QAction* action(const QString& text) {
    for (QAction* action : page.page_actions())
      if (action->text() == text)
        return action;
    return nullptr;
  }
  QPushButton* button(const QString& text) {
    for (auto* button : page.findChildren<QPushButton*>())
      if (button->text() == text)
        return button;
    return nullptr;
  }
  QLineEdit* editor() { return table->viewport()->findChild<QLineEdit*>(); }

  WorkbenchHere bench;
  std::vector<std::int64_t> ids;
  RunsPage page{*bench};
  RunTable* table = page.findChild<RunTable*>();
  QLineEdit* filter = page.findChild<QLineEdit*>("filter");
};

} // namespace

/// The page with real keys on a real database.
class TestRunsPage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void an_empty_database_offers_the_demo() {
    PageHere here;
    QVERIFY(!here.table->isVisible());
    QPushButton* demo = here.button("Run the demo");
    QVERIFY(demo && demo->isVisible());
    QTest::mouseClick(demo, Qt::LeftButton);
    QCOMPARE(here.bench->job_queue().jobs().size(), 1);
    Job* job = here.bench->job_queue().jobs().front();
    QCOMPARE(job->kind(), Job::Kind::demo);
    QTRY_VERIFY_WITH_TIMEOUT(!demo->isVisible(), patience_ms); // not a second time
    job->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::cancelled, patience_ms);
    QTRY_VERIFY(demo->isVisible()); // nothing came of it
  }

  void an_empty_database_leads_to_own_programs_and_imports() {
    PageHere here;
    QSignalSpy proposed(&*here.bench, &Workbench::run_proposed);
    QSignalSpy imports(&*here.bench, &Workbench::import_wanted);
    QTest::mouseClick(here.button("Own program"), Qt::LeftButton);
    QCOMPARE(proposed.count(), 1);
    const auto spec = proposed.first().first().value<run::RunSpec>();
    QVERIFY(spec.program && spec.program->attach);
    QTest::mouseClick(here.button("Import runs…"), Qt::LeftButton);
    QCOMPARE(imports.count(), 1);
  }

  void says_that_a_database_cannot_be_read() {
    QTemporaryDir folder;
    QFile file(folder.filePath("runs.db"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(4096, 'x'));
    file.close();
    Theme theme;
    theme.apply_to(*qApp);
    Workbench bench(theme, file.fileName().toStdString());
    RunsPage page(bench);
    page.resize(900, 500);
    page.show();
    auto* why = page.findChild<QLabel*>("why-unreadable");
    QTRY_VERIFY_WITH_TIMEOUT(why->isVisible(), patience_ms);
    QVERIFY2(why->text().contains("not a BatchScope database"), qPrintable(why->text()));
    if (const QString pictures = qEnvironmentVariable("BATCHSCOPE_PICTURES"); !pictures.isEmpty())
      QVERIFY(page.grab().save(pictures + "/unreadable.png"));
    QVERIFY(file.remove());
    QTRY_VERIFY_WITH_TIMEOUT(!why->isVisible(), patience_ms);
    QVERIFY(bench.run_database().loaded());
  }

  void rows_appear_as_a_sweep_goes_on() {
    PageHere here;
    sweep::SweepSpec spec;
    spec.base = small_run(300);
    spec.vary = {sweep::parse_variation("batch=8,16,32")};
    Job* job = here.bench->job_queue().sweep(spec);
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QTRY_COMPARE(here.table->model()->rowCount(), 3);
    QTRY_COMPARE(here.text(3, status_column), QString("finished"));
    QCOMPARE(here.text(3, run_column("batch")), QString("32"));
    QCOMPARE(here.text(3, run_column("steps")), QString("300"));
    QCOMPARE(here.text(3, run_column("sweep")), QString("1"));
    QVERIFY(here.table->isVisible());
  }

  void renames_in_place_and_back() {
    PageHere here({"first", "second"});
    here.click(here.ids[1]);
    QTest::keyClick(here.table, Qt::Key_F2);
    QVERIFY(here.editor());
    QTest::keyClicks(here.editor(), "better");
    QTest::keyClick(here.editor(), Qt::Key_Return);
    QTRY_COMPARE(here.text(here.ids[1], name_column), QString("better"));
    const auto stored = [&] { return store::RunReader(here.bench.database()).run(here.ids[1]).name; };
    QTRY_COMPARE(stored(), std::string("better"));
    here.page.undo_stack()->undo();
    QTRY_COMPARE(stored(), std::string("second"));
    QTRY_COMPARE(here.text(here.ids[1], name_column), QString("second"));
    here.page.undo_stack()->redo();
    QTRY_COMPARE(here.text(here.ids[1], name_column), QString("better"));
    // Escape changes nothing.
    QTest::keyClick(here.table, Qt::Key_F2);
    QTest::keyClicks(here.editor(), "not this");
    QTest::keyClick(here.editor(), Qt::Key_Escape);
    QCOMPARE(here.text(here.ids[1], name_column), QString("better"));
    QCOMPARE(here.page.undo_stack()->count(), 1);
  }

  void notes_in_place() {
    PageHere here({"first", "second"});
    here.click(here.ids[0]);
    QTest::keyClick(here.table, Qt::Key_F2, Qt::ShiftModifier);
    QVERIFY(here.editor());
    QTest::keyClicks(here.editor(), "the tail is odd");
    QTest::keyClick(here.editor(), Qt::Key_Return);
    const auto stored = [&] { return store::RunReader(here.bench.database()).run(here.ids[0]).note; };
    QTRY_COMPARE(stored(), std::string("the tail is odd"));
    here.page.undo_stack()->undo();
    QTRY_COMPARE(stored(), std::string());
    // A double click on the note is for the note alone.
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.click(here.ids[1], {}, note_column());
    QTest::mouseDClick(here.table->viewport(), Qt::LeftButton, {},
                       here.table->visualRect(here.cell(here.ids[1], note_column())).center());
    QVERIFY(here.editor());
    QCOMPARE(wanted.count(), 0);
  }

  void tags_what_is_selected() {
    PageHere here({"a", "b", "c"});
    { store::RunStore(here.bench.database()).add_tags({here.ids[0]}, {"old", "kept"}); }
    here.bench->run_database().refresh();
    QTRY_COMPARE(here.text(here.ids[0], run_column("tags")), QString("kept, old"));
    here.click(here.ids[0]);
    here.click(here.ids[1], Qt::ControlModifier);
    here.action("Edit tags…")->trigger();
    auto* dialog = here.page.findChild<QInputDialog*>();
    QVERIFY(dialog);
    dialog->setTextValue("kept, best , best,");
    dialog->accept();
    const auto tags = [&](int run) {
      return store::RunReader(here.bench.database()).run(here.ids[static_cast<std::size_t>(run)]).tags;
    };
    const std::vector<std::string> both{"best", "kept"};
    QTRY_COMPARE_WITH_TIMEOUT(tags(0), both, patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(tags(1), both, patience_ms);
    QCOMPARE(tags(2).size(), std::size_t(0));
    QVERIFY(!here.table->isColumnHidden(run_column("tags")));
    here.filter->setText("tag = best");
    QTRY_COMPARE(here.table->model()->rowCount(), 2);
    here.filter->clear();
    here.page.undo_stack()->undo();
    const std::vector<std::string> before{"kept", "old"};
    QTRY_COMPARE_WITH_TIMEOUT(tags(0), before, patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(tags(1).size(), std::size_t(0), patience_ms);
  }

  void deletes_and_brings_back() {
    PageHere here({"a", "b", "c", "d", "e"});
    QSignalSpy note(&*here.bench, &Workbench::note);
    here.click(here.ids[1]);
    here.click(here.ids[3], Qt::ControlModifier);
    QTest::keyClick(here.table, Qt::Key_Delete);
    QTRY_COMPARE(here.table->model()->rowCount(), 3);
    QCOMPARE(note.count(), 1);
    QVERIFY(note[0][0].toString().startsWith("2 runs deleted"));
    QCOMPARE(store::RunReader(here.bench.database()).list().size(), std::size_t(3));
    QCOMPARE(here.table->selected_runs().size(), std::size_t(1)); // the row in their place
    here.page.undo_stack()->undo();
    QTRY_COMPARE(here.table->model()->rowCount(), 5);
    QCOMPARE(here.text(here.ids[3], name_column), QString("d"));
  }

  void a_run_that_goes_on_is_not_deleted() {
    PageHere here({"a"});
    store::RunStore store(here.bench.database());
    store::NewRun run;
    run.name = "going on";
    run.spec_json = run::to_json(small_run(100));
    const auto writer = store.begin(run);
    QTRY_COMPARE(here.table->model()->rowCount(), 2);
    QSignalSpy problem(&*here.bench, &Workbench::problem);
    here.click(writer->id());
    here.click(here.ids[0], Qt::ControlModifier);
    QTest::keyClick(here.table, Qt::Key_Delete);
    QTRY_COMPARE(here.table->model()->rowCount(), 1); // the other one went
    QCOMPARE(here.text(writer->id(), status_column), QString("running"));
    QVERIFY(problem[0][0].toString().contains("Stop a running run"));
    writer->finish(finished_run(1).outcome);
  }

  void opens_several_together() {
    PageHere here({"a", "b", "c"});
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.click(here.ids[0]);
    here.click(here.ids[2], Qt::ControlModifier);
    QVERIFY(here.button("Plot 2 together"));
    QTest::keyClick(here.table, Qt::Key_Return);
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(wanted[0][0].toString(), QString("live"));
    QCOMPARE(here.bench->opened().size(), 2);
    QCOMPARE(here.bench->current()->id(), here.ids[2]); // where the keyboard is
    QVERIFY(here.cell(here.ids[2], name_column).data(Qt::UserRole + 2).isValid());
    here.click(here.ids[1], {}, run_column("batch"));
    QTest::mouseDClick(here.table->viewport(), Qt::LeftButton, {},
                       here.table->visualRect(here.cell(here.ids[1], run_column("batch"))).center());
    QCOMPARE(here.bench->opened().size(), 1);
    QCOMPARE(here.bench->current()->id(), here.ids[1]);
  }

  void filters_as_one_types() {
    PageHere here({"cnn small", "cnn large", "mlp"});
    QTest::keyClick(here.table, Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(here.page.focusWidget(), here.filter);
    QTest::keyClicks(here.filter, "cnn");
    QCOMPARE(here.table->model()->rowCount(), 2);
    QVERIFY(here.page.findChild<Pill*>()->text().startsWith("2 of 3"));
    here.filter->clear();
    auto* error = here.page.findChild<QLabel*>("filter-error");
    for (const QChar c : QString("batch >= 32 and status = finished")) {
      QTest::keyClick(here.filter, c.toLatin1());
      QVERIFY(error->isVisible() == here.filter->property("wrong").toBool());
    }
    QVERIFY(!error->isVisible());
    QCOMPARE(here.table->model()->rowCount(), 2);
    QTest::keyClicks(here.filter, " or");
    QVERIFY(error->isVisible());
    QVERIFY(error->text().contains("fields are"));
    QCOMPARE(here.table->model()->rowCount(), 2);
    // Nothing left: says so, with a way back.
    here.filter->setText("no such word");
    QPushButton* clear = here.button("Clear filter");
    QVERIFY(clear->isVisible());
    QTest::mouseClick(clear, Qt::LeftButton);
    QVERIFY(here.table->isVisible());
    QCOMPARE(here.table->model()->rowCount(), 3);
    // Enter leads into the table.
    QTest::keyClick(here.filter, Qt::Key_Return);
    QCOMPARE(here.page.focusWidget(), here.table);
    QCOMPARE(here.table->selected_runs().size(), std::size_t(1));
  }

  /// Ctrl+F is the page's filter, too.
  void the_output_of_a_program_is_searched_where_the_keyboard_is() {
    QTemporaryFile file;
    QVERIFY(file.open());
    file.write("loss 2\nloss 1\n");
    file.flush();
    PageHere here({"cnn"});
    run::RunSpec spec;
    spec.program = run::ProgramSpec{.command = {"python", "train.py"}};
    run::RunStart start;
    start.program = run::ProgramStart{.output = file.fileName().toStdString()};
    store::NewRun run;
    run.spec_json = run::to_json(spec);
    run.start_json = run::to_json(start);
    const std::int64_t id = store::RunStore(here.bench.database()).add_finished(run, finished_run(2).outcome);
    here.bench->run_database().refresh();
    QTRY_VERIFY_WITH_TIMEOUT(here.cell(id, name_column).isValid(), patience_ms);
    here.click(id);
    QTRY_VERIFY_WITH_TIMEOUT(here.button("Show output")->isVisible(), patience_ms);
    QTest::mouseClick(here.button("Show output"), Qt::LeftButton);
    auto& output = *here.page.findChild<OutputText*>();
    QTRY_COMPARE_WITH_TIMEOUT(output.toPlainText(), QString("loss 2\nloss 1"), patience_ms);
    QVERIFY(output.hasFocus());
    QTest::keyClick(&output, Qt::Key_F, Qt::ControlModifier);
    auto& field = *here.page.findChild<QLineEdit*>("output-search");
    QVERIFY(field.hasFocus());
    QTest::keyClicks(&field, "loss");
    QCOMPARE(here.page.findChild<QLabel*>("output-hits")->text(), QString("1 of 2"));
    QTest::keyClick(&field, Qt::Key_Escape);
    QVERIFY(output.hasFocus());
    QTest::keyClick(here.table, Qt::Key_F, Qt::ControlModifier);
    QVERIFY(here.filter->hasFocus());
    here.click(1); // of the engine
    QTRY_VERIFY_WITH_TIMEOUT(!output.isVisible(), patience_ms);
  }

  void rows_that_change_leave_the_person_alone() {
    QStringList names;
    for (int i = 0; i < 60; ++i)
      names.append(QString("run %1").arg(i));
    PageHere here(names);
    store::RunStore store(here.bench.database());
    store::NewRun run;
    run.name = "going on";
    run.spec_json = run::to_json(small_run(100));
    const auto writer = store.begin(run);
    QTRY_COMPARE(here.table->model()->rowCount(), 61);
    here.click(here.ids[20]);
    here.click(here.ids[21], Qt::ControlModifier);
    const auto chosen = here.table->selected_runs();
    QCOMPARE(chosen.size(), std::size_t(2));
    const int before = here.table->visualRect(here.cell(here.ids[20], id_column)).top();
    QTest::keyClick(here.table, Qt::Key_F2);
    QTest::keyClicks(here.editor(), "half typ");

    telemetry::StepRecord record;
    record.step = 1;
    record.loss = 0.5;
    writer->sink().record(record);
    QTRY_COMPARE(here.text(writer->id(), run_column("steps")), QString("1"));
    // New runs come in above: newest first.
    store_runs(here.bench.database(), {"one more", "and another"});
    QTRY_COMPARE(here.table->model()->rowCount(), 63);
    QCOMPARE(here.table->selected_runs(), chosen);
    QCOMPARE(here.table->visualRect(here.cell(here.ids[20], id_column)).top(), before);
    QVERIFY(here.editor());
    QTest::keyClicks(here.editor(), "ed");
    QTest::keyClick(here.editor(), Qt::Key_Return);
    QTRY_COMPARE(store::RunReader(here.bench.database()).run(here.ids[21]).name, std::string("half typed"));
    writer->finish(finished_run(1).outcome);
  }

  void copies_rows_for_spreadsheets() {
    PageHere here({"plain", "with, comma"});
    QTest::keyClick(here.table, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(here.table, Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(lines.size(), 4); // titles, two rows, nothing after the last line's end
    QVERIFY(lines[0].startsWith("id\tname\tstatus\tbatch\tsteps"));
    QVERIFY(lines[1].startsWith("2\twith, comma\tfinished\t32\t200\t1\t0.5\t"));
    const QByteArray csv = QGuiApplication::clipboard()->mimeData()->data("text/csv");
    QVERIFY(csv.contains("2,\"with, comma\",finished,32"));
    here.table->setColumnHidden(status_column, true);
    here.action("Copy rows as CSV")->trigger();
    QVERIFY(QGuiApplication::clipboard()->text().startsWith("id,name,batch"));
  }

  void a_filter_that_cannot_be_read_moves_nothing() {
    PageHere here({"a", "b"});
    const QRect before = here.table->geometry();
    auto* filter = here.page.findChild<QLineEdit*>("filter");
    QTest::keyClicks(filter, "accuracy > 97");
    const auto* error = here.page.findChild<QLabel*>("filter-error");
    QTRY_VERIFY(error->isVisible());
    QVERIFY2(error->text().contains("did you mean 97%?"), qPrintable(error->text()));
    QVERIFY(here.page.rect().contains(error->geometry()));
    QCoreApplication::processEvents();
    QCOMPARE(here.table->geometry(), before);
    QTest::keyClicks(filter, "%");
    QVERIFY(!error->isVisible());
  }

  void exports_through_a_dialog() {
    PageHere here({"a", "b"});
    QTemporaryDir folder;
    here.click(here.ids[0]);
    const QList<QPair<QString, QString>> formats = {
        {"CSV, a row per step", "csv"},         {"CSV, a row per run", "csv"},
        {"JSON, everything", "json"},           {"Markdown, the comparison", "md"},
        {"HTML, a report in one file", "html"}, {"TensorBoard, a folder of event files", "tb"}};
    for (int number = 0; number < formats.size(); ++number) {
      const auto& [title, extension] = formats[number];
      here.action(QString("Export runs as %1…").arg(title))->trigger();
      auto* dialog = here.page.findChild<QFileDialog*>();
      QVERIFY(dialog && dialog->isVisible());
      const QString written = QString("out%1.%2").arg(number).arg(extension);
      const QString file = folder.filePath(written);
      QSignalSpy note(&*here.bench, &Workbench::note);
      auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
      name->setText(file);
      QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save), Qt::LeftButton);
      QTRY_COMPARE(note.count(), 1);
      QVERIFY(note[0][0].toString().contains(written));
      QVERIFY(QFileInfo(file).size() > 50);
      QTRY_VERIFY(!here.page.findChild<QFileDialog*>());
    }
  }

  void trains_again_with_changes() {
    PageHere here({"a", "b"});
    QSignalSpy proposed(&*here.bench, &Workbench::run_proposed);
    here.click(here.ids[1]);
    QTest::mouseClick(here.button("Train again with changes"), Qt::LeftButton);
    QTRY_COMPARE(proposed.count(), 1);
    const auto spec = proposed[0][0].value<run::RunSpec>();
    QCOMPARE(spec.batch.number, std::int64_t(32));
    QCOMPARE(spec.model, std::string("mlp:hidden=16"));
  }

  void keeps_its_columns_and_order() {
    QJsonObject kept;
    {
      PageHere here({"a", "b"});
      QHeaderView* header = here.table->horizontalHeader();
      header->moveSection(header->visualIndex(run_column("loss")), 1);
      here.table->setColumnHidden(run_column("sweep"), true);
      here.table->setColumnWidth(name_column, 321);
      here.table->sortByColumn(run_column("batch"), Qt::AscendingOrder);
      here.filter->setText("finished");
      kept = QJsonDocument::fromJson(QJsonDocument(here.page.state()).toJson()).object();
    }
    PageHere here({"a", "b"});
    here.page.restore(kept);
    QHeaderView* header = here.table->horizontalHeader();
    QCOMPARE(header->visualIndex(run_column("loss")), 1);
    QVERIFY(here.table->isColumnHidden(run_column("sweep")));
    QVERIFY(here.table->isColumnHidden(run_column("validation_loss")));
    QCOMPARE(here.table->columnWidth(name_column), 321);
    QCOMPARE(header->sortIndicatorSection(), int(run_column("batch")));
    QCOMPARE(here.table->model()->index(0, id_column).data().toString(), QString::number(here.ids[0]));
    QCOMPARE(here.filter->text(), QString("finished"));
    here.page.restore(
        QJsonDocument::fromJson(R"({"columns":[7,{"key":"nothing"},{"key":"name","shown":false,"width":-5},
        {"key":"note"}],"sort":"no","filter":9})")
            .object());
    QVERIFY(!here.table->isColumnHidden(name_column));
    QVERIFY(here.filter->text().isEmpty());
    here.table->reset_columns();
    QCOMPARE(header->visualIndex(run_column("loss")), int(run_column("loss")));
    QVERIFY(!here.table->isColumnHidden(run_column("sweep")));
  }

  void actions_need_a_selection() {
    PageHere here({"a"});
    const auto actions = here.page.page_actions();
    QVERIFY(actions.size() >= 9);
    for (QAction* action : actions) {
      QVERIFY2(!action->toolTip().isEmpty() && !action->icon().isNull(), qPrintable(action->text()));
      QCOMPARE(action->isEnabled(), action->text() == "Filter runs");
    }
    here.click(here.ids[0]);
    for (QAction* action : actions) // a run that has finished is not resumed
      QCOMPARE(action->isEnabled(), action->text() != "Resume run");
  }
};

BATCHSCOPE_TEST(TestRunsPage)
#include "tst_runs_page.moc"
