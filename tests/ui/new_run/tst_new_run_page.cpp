#include <QAbstractItemView>
#include <QClipboard>
#include <QProcess>
#include <QSignalSpy>
#include <QUndoStack>

#include "core/store/run_reader.h"
#include "ui/new_run/command_card.h"
#include "ui/new_run/new_run_here.h"
#include "ui/new_run/presets.h"

#include "core/data/file_text.h"
#include "test_program.h"
#include "tests/core/base/file_locks.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The page with real runs, files and the real command line.
class TestNewRunPage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void buttons_that_a_narrow_window_leaves_out_do_not_keep_it_wide() {
    for (const FormKind kind : {FormKind::network, FormKind::program}) {
      NewRunHere here(kind);
      here.page.resize(2000, 820);
      QTRY_VERIFY(here.button("Load JSON…"));
      const int least = here.page.minimumSizeHint().width();
      here.page.resize(least, 820);
      QTRY_VERIFY(!here.button("Load JSON…"));
      QCOMPARE(here.page.minimumSizeHint().width(), least);
      for (const char* text : {"Sweep…", "Find the batch size first", "Start"})
        QVERIFY2(here.page.rect().contains(
                     here.button(text)->geometry().translated(here.button(text)->parentWidget()->pos())),
                 text);
      here.page.resize(2000, 820);
      QTRY_VERIFY(here.button("Load JSON…"));
    }
  }

  void what_was_typed_is_what_runs() {
    NewRunHere here;
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    for (const auto& [key, text] : every_field())
      type(here.form, key, text);
    QTest::keyClick(&here.page, Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(here.bench->job_queue().jobs().size(), 1);
    Job* job = here.bench->job_queue().jobs().front();
    QTRY_VERIFY_WITH_TIMEOUT(job->state() == Job::State::done || job->state() == Job::State::failed, patience_ms);
    QCOMPARE(job->error(), QString());
    QCOMPARE(wanted[0][0].toString(), QString("live"));
    const store::RunReader reader(here.bench.database());
    const auto runs = reader.list();
    QCOMPARE(runs.size(), std::size_t(1));
    QCOMPARE(runs[0].outcome.status, telemetry::RunStatus::finished);
    QCOMPARE(reader.spec_json(runs[0].id), run::to_json(spec_of(every_field())));
  }

  void the_command_line_does_the_same_data() {
    QTest::addColumn<QString>("json");
    const auto add = [](const char* name, const run::RunSpec& spec) {
      QTest::addRow("%s", name) << QString::fromStdString(run::to_json(spec));
    };
    add("defaults", {});
    add("every field", spec_of(every_field()));
    add("a shell's signs",
        spec_of({{"name", "$HOME `ls` \"x\" 'y' \\ ; #"}, {"schedule", "formula:min(batch + 1, 64)"}}));
    for (const Preset& preset : presets())
      add(preset.name, preset_spec(preset));
  }

  void the_command_line_does_the_same() {
    QFETCH(QString, json);
    const run::RunSpec spec = run::run_spec_from_json(json.toStdString());
    NewRunHere here;
    QSignalSpy note(&*here.bench, &Workbench::note);
    here.form.set_spec(spec);
    here.click("Copy as command line");
    QCOMPARE(note.count(), 1);
    QString command = QGuiApplication::clipboard()->text();
    QCOMPARE(command, here.page.findChild<CommandCard*>()->command());
    QCOMPARE(here.label("command").remove("\\\n    "), command); // as it is shown, in lines
    QVERIFY(command.startsWith("batchscope-cli train --"));
    command.replace(0, QString("batchscope-cli").size(), "\"" BATCHSCOPE_CLI "\"");
    QProcess shell;
    shell.setWorkingDirectory(here.folder.path());
    shell.start("sh", {"-c", command + " --print-spec"});
    QVERIFY(shell.waitForFinished(patience_ms));
    QCOMPARE(shell.readAllStandardError(), QByteArray());
    QCOMPARE(QString::fromUtf8(shell.readAllStandardOutput()).trimmed(), QString::fromStdString(run::to_json(spec)));
  }

  void nothing_starts_while_a_field_is_wrong() {
    NewRunHere here;
    type(here.form, "lr", "fast");
    QVERIFY(here.label("command").contains("One field has an error"));
    QVERIFY(here.label("summary").contains("One field"));
    QVERIFY(!here.button("Copy as command line")->isEnabled());
    QVERIFY(!here.button("Save JSON…")->isEnabled());
    here.button("Start")->setFocus();
    for (const char* text : {"Start", "Find the batch size first"}) {
      here.click(text);
      QVERIFY(here.bench->job_queue().jobs().isEmpty());
      QCOMPARE(here.page.focusWidget(), here.form.editor("lr")->focusProxy());
    }
  }

  void what_the_engine_refuses_is_said_at_its_field_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::newRow("data") << "data"
                          << "text:/nowhere/at all.txt";
    QTest::newRow("device") << "device"
                            << "cuda:7";
    QTest::newRow("model on data") << "model"
                                   << "gpt";
    QTest::newRow("batch above data") << "batch"
                                      << "100000000";
  }

  void what_the_engine_refuses_is_said_at_its_field() {
    QFETCH(QString, key);
    QFETCH(QString, text);
    NewRunHere here;
    type(here.form, "batch", "8");
    type(here.form, key.toStdString(), text);
    QVERIFY(here.form.spec());
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.click("Start");
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().jobs().front()->state() == Job::State::failed, patience_ms);
    const QString error = here.bench->job_queue().jobs().front()->error();
    QVERIFY2(!here.form.editor(key.toStdString())->error().isEmpty(), qPrintable(error));
    QCOMPARE(wanted.last()[0].toString(), QString("new-run"));
    QVERIFY(here.page.shows_problem("Training: " + error)); // once is enough
    QCOMPARE(here.page.focusWidget(), here.form.editor(key.toStdString())->focusProxy());
  }

  void an_error_of_an_older_form_is_not_said_at_a_field() {
    NewRunHere here;
    QSignalSpy problem(&*here.bench, &Workbench::problem);
    type(here.form, "data", "text:/nowhere");
    here.click("Start");
    type(here.form, "data", "demo");
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().jobs().front()->state() == Job::State::failed, patience_ms);
    QCOMPARE(here.form.editor("data")->error(), QString());
    QCOMPARE(problem.count(), 1);
    QVERIFY(problem[0][0].toString().contains("/nowhere"));
  }

  void an_error_moves_nothing_below() {
    NewRunHere here;
    here.page.resize(820, 480);
    const auto places = [&here] {
      for (int round = 0; round < 3; ++round)
        QCoreApplication::processEvents();
      QList<QPoint> all;
      for (const QWidget* each : here.page.findChildren<QWidget*>())
        if (each->isVisible() && (qobject_cast<const QLineEdit*>(each) || qobject_cast<const QComboBox*>(each) ||
                                  qobject_cast<const QPushButton*>(each)))
          all.append(each->mapTo(&here.page, QPoint()));
      return all;
    };
    here.form.editor("name")->setFocus();
    // The prediction comes when it is computed; until then its card is shorter.
    QTRY_VERIFY_WITH_TIMEOUT(here.shows_prediction(), patience_ms);
    const auto before = places();
    QVERIFY(before.size() > 15);
    // As the engine says it, long, and at fields that are folded away.
    here.form.remark("model", QString(300, 'm'));
    here.form.remark("epochs", "There are none");
    here.form.remark("optimizer", "It is gone");
    QCOMPARE(places(), before);
    here.page.load("/nowhere/at all.json");
    QCOMPARE(places(), before);
  }

  void a_preset_can_be_taken_back() {
    NewRunHere here;
    QUndoStack& undo = *here.page.undo_stack();
    QSignalSpy note(&*here.bench, &Workbench::note);
    QVERIFY(!undo.canUndo());
    type(here.form, "name", "mine");
    type(here.form, "lr", "0.123");
    type(here.form, "dropout", "0.25");
    const std::string mine = run::to_json(*here.form.spec());
    here.choose_preset(0);
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(preset_spec(presets()[0])));
    QVERIFY2(note.count() == 1 && note[0][0].toString().contains("Ctrl+Z"), "what was lost is not told");
    QCOMPARE(undo.undoText(), "filling in " + preset_name(presets()[0]));
    undo.undo();
    QCOMPARE(run::to_json(*here.form.spec()), mine);
    QVERIFY(here.form.editor("dropout")->isVisible());
    undo.redo();
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(preset_spec(presets()[0])));
    QCOMPARE(here.presets()->currentIndex(), 0);
    undo.undo();
    // Field by field, as it was typed.
    QCOMPARE(undo.undoText(), "editing Dropout");
    undo.undo();
    QCOMPARE(here.form.editor("dropout")->text(), "");
    QCOMPARE(here.page.focusWidget(), here.form.editor("dropout")->focusProxy());
    undo.undo();
    QCOMPARE(here.form.editor("lr")->text(), "");
    undo.undo();
    QCOMPARE(here.form.editor("name")->text(), "");
    QVERIFY(!undo.canUndo());
    // Nothing of one's own is lost now: nothing is told.
    here.choose_preset(0);
    here.choose_preset(1);
    QCOMPARE(note.count(), 1);
  }

  void whatever_fills_the_form_can_be_taken_back() {
    NewRunHere here;
    QUndoStack& undo = *here.page.undo_stack();
    type(here.form, "lr", "fast"); // wrong values, too
    const QJsonObject mine = here.form.texts();
    const auto comes_back = [&](const char* what) {
      QVERIFY2(here.form.texts() != mine, what);
      undo.undo();
      QVERIFY2(here.form.texts() == mine, what);
    };
    here.bench->propose_run(spec_of(every_field()));
    comes_back("a proposed run");
    here.page.load(here.write("given.json", QByteArray::fromStdString(run::to_json(spec_of(every_field())))));
    comes_back("a file");
    here.choose_preset(here.presets()->findText("Defaults"));
    comes_back("the defaults");
    type(here.form, "epochs", "7");
    comes_back("the length");
    here.form.editor("data")->set_text("data", "csv:/a.csv,target=b");
    comes_back("a file of data");
    QVERIFY(here.form.editor("lr")->error().contains("Enter a finite number"));
    // What is kept from the last time is no step.
    here.page.restore({{"fields", QJsonObject{{"lr", "0.5"}}}});
    QVERIFY(!undo.canUndo());
  }

  void undo_belongs_to_the_form_not_to_its_fields() {
    NewRunHere here;
    for (const char* key : {"name", "model"}) { // a line, and a list to type into
      QWidget* control = here.form.editor(key)->focusProxy();
      control->setFocus();
      QKeyEvent undo(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
      QApplication::sendEvent(control, &undo);
      QVERIFY2(!undo.isAccepted(), key);
      QKeyEvent copy(QEvent::ShortcutOverride, Qt::Key_C, Qt::ControlModifier);
      QApplication::sendEvent(control, &copy);
      QVERIFY2(copy.isAccepted(), key);
    }
  }

  void the_command_line_names_another_database() {
    NewRunHere here;
    QVERIFY(here.page.findChild<CommandCard*>()->command().endsWith(
        " --db " + QString::fromStdString(here.bench.database().string())));
  }

  void the_open_database_is_no_file_to_read_or_write() {
    NewRunHere here;
    const std::string database = here.bench.database().string();
    const QString file = QString::fromStdString(database);
    here.form.set_spec(small_run(2));
    here.click("Start");
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().idle() && here.bench->run_database().loaded(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(batchscope::test::is_locked_here(database), patience_ms);
    QSignalSpy problem(&*here.bench, &Workbench::problem);
    here.page.load(file);
    here.page.save(file);
    QCOMPARE(problem.count(), 2);
    for (const auto& said : problem)
      QVERIFY2(said[0].toString().contains("is the run database that is open"), qPrintable(said[0].toString()));
    QVERIFY(QString::fromStdString(data::text_for_file(file.toStdString() + "-shm", "csv").text).contains("runs.db"));
    QVERIFY(batchscope::test::is_locked_here(database) && batchscope::test::is_locked_here(database + "-shm"));
    QCOMPARE(store::RunReader(database).list().size(), std::size_t(1));
  }

  void a_search_takes_the_form() {
    NewRunHere here;
    here.form.set_spec(small_run(10));
    type(here.form, "margin", "0.4");
    type(here.form, "max_batch", "32");
    QSignalSpy started(&*here.bench, &Workbench::search_started);
    here.click("Find the batch size first");
    QCOMPARE(started.count(), 1);
    Job* job = here.bench->job_queue().jobs().front();
    QCOMPARE(job->kind(), Job::Kind::find);
    QCOMPARE(run::to_json(job->spec()), run::to_json(*here.form.spec()));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::working, patience_ms);
    QTRY_VERIFY(here.label("summary").contains("Queued until"));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QVERIFY(job->search_result()->safe.has_value());
    QTRY_VERIFY(!here.label("summary").contains("Queued until"));
  }

  void presets_fill_the_form() {
    NewRunHere here;
    QCOMPARE(here.presets()->currentIndex(), -1);
    for (std::size_t i = 0; i < presets().size(); ++i) {
      here.choose_preset(int(i));
      QVERIFY(here.form.spec());
      QCOMPARE(run::to_json(*here.form.spec()), run::to_json(preset_spec(presets()[i])));
      if (!presets()[i].file.empty()) {
        auto* dialog = here.page.findChild<QFileDialog*>();
        QVERIFY(dialog && dialog->isVisible());
        dialog->reject();
        QTRY_VERIFY(!here.page.findChild<QFileDialog*>());
        QVERIFY(!here.form.editor("data")->error().isEmpty());
      } else {
        QCOMPARE(here.presets()->currentIndex(), int(i));
      }
    }
    here.choose_preset(0);
    type(here.form, "lr", "0.123");
    QCOMPARE(here.presets()->currentIndex(), -1); // settings of one's own by now
    here.choose_preset(here.presets()->findText("Defaults"));
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(run::RunSpec{}));
  }

  void all_presets_are_seen_at_once() {
    NewRunHere here;
    auto* combo = here.presets();
    combo->setStyleSheet(QStringLiteral("QComboBox { combobox-popup: 0; }")); // the theme's: a list, not a menu
    combo->showPopup();
    QTRY_VERIFY(combo->view()->isVisible());
    const QAbstractItemView& view = *combo->view();
    const QRect last = view.visualRect(combo->model()->index(combo->count() - 1, 0));
    QVERIFY(view.viewport()->rect().contains(last));
    combo->hidePopup();
  }

  void the_last_one_started_can_be_had_again() {
    QJsonObject kept;
    {
      NewRunHere here;
      QCOMPARE(here.presets()->findText("Last started run"), -1);
      here.form.set_spec(small_run(3));
      here.click("Start");
      QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().idle(), patience_ms);
      here.choose_preset(here.presets()->findText("Defaults"));
      kept = here.page.state();
    }
    NewRunHere here;
    here.page.restore(kept);
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(run::RunSpec{}));
    here.choose_preset(here.presets()->findText("Last started run"));
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(small_run(3)));
    here.page.restore({{"last_started", "{broken"}});
    QCOMPARE(here.presets()->findText("Last started run"), -1);
  }

  void descriptions_are_saved_and_loaded() {
    NewRunHere here;
    for (const auto& [key, text] : every_field())
      type(here.form, key, text);
    const QString file = here.folder.filePath("my run.json");
    here.click("Save JSON…");
    QCOMPARE(here.page.findChild<QFileDialog*>()->findChild<QLineEdit*>("fileNameEdit")->text(),
             "it's -all- fields.json"); // after the run's name
    here.choose_file(file, QDialogButtonBox::Save);
    QVERIFY(QFile::exists(file));
    here.choose_preset(here.presets()->findText("Defaults"));
    here.click("Load JSON…");
    here.choose_file(file, QDialogButtonBox::Open);
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(spec_of(every_field())));

    QSignalSpy problem(&*here.bench, &Workbench::problem);
    const auto said = [&problem] { return problem.isEmpty() ? QString() : problem.takeLast()[0].toString(); };
    const QPair<QByteArray, QString> broken[] = {
        {"{\"lr\": \"fast\"}", "lr"}, {"[1]", "object"}, {"{", "line"}, {"{\"colour\": 1}", "colour"}};
    for (const auto& [content, part] : broken) {
      here.page.load(here.write("broken.json", content));
      const QString text = said();
      QVERIFY2(text.contains(part) && text.contains("broken.json"), qPrintable(text));
      QCOMPARE(run::to_json(*here.form.spec()), run::to_json(spec_of(every_field()))); // as it was
    }
    here.page.load(here.folder.filePath("not there.json"));
    QVERIFY(said().contains("not there.json"));
    here.page.save(here.folder.filePath("no/such/folder.json"));
    QVERIFY(said().contains("folder.json"));
    // Values that are wrong are shown where they can be mended.
    here.page.load(here.write("wrong.json", "{\"dropout\": 3}"));
    QCOMPARE(here.form.editor("dropout")->error(), QString("Enter a number from 0 to below 1"));
  }

  void files_are_chosen_for_the_data() {
    NewRunHere here;
    const QString table = here.write("iris.csv", "length,width,\"the kind\"\n1,2,a\n");
    here.click("Browse…");
    here.choose_file(table, QDialogButtonBox::Open);
    QCOMPARE(here.form.editor("data")->text(), "csv:" + table + ",target=the kind");
  }

  void a_file_is_chosen_for_the_model() {
    NewRunHere here;
    const QString script = here.write("net.pt", "x");
    here.click("Your own…");
    here.choose_file(script, QDialogButtonBox::Open);
    QCOMPARE(here.form.editor("model")->text(), "torchscript:" + script);
    QVERIFY(here.form.editor("model")->error().isEmpty());
    // What the file does not let one set is said where it is set.
    type(here.form, "dropout", "0.5");
    QVERIFY(here.form.editor("dropout")->error().contains("TorchScript"));
  }

  void a_run_proposed_elsewhere_fills_it() {
    NewRunHere here;
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.bench->propose_run(spec_of(every_field()));
    QCOMPARE(run::to_json(*here.form.spec()), run::to_json(spec_of(every_field())));
    QCOMPARE(wanted[0][0].toString(), QString("new-run"));
  }

  void help_follows_the_keyboard() {
    NewRunHere here;
    type(here.form, "lr", "0.1");
    QStringList texts;
    for (const QLabel* label : here.page.findChildren<QLabel*>())
      texts.append(label->text());
    QVERIFY(texts.contains("Learning rate at the reference batch size."));
    QVERIFY(texts.join('\n').contains("Option: --lr"));
    // Tab leads through the fields in their order.
    here.form.editor("name")->setFocus();
    QTest::keyClick(here.page.focusWidget(), Qt::Key_Tab);
    QCOMPARE(here.page.focusWidget(), here.form.editor("model")->focusProxy());
    for (QAction* action : here.page.page_actions())
      QVERIFY(!action->toolTip().isEmpty() && !action->icon().isNull());
  }
};

BATCHSCOPE_TEST(TestNewRunPage)
#include "tst_new_run_page.moc"
