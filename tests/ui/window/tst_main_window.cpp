#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "ui/runs/deleted_runs.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/key_sheet.h"
#include "ui/window/rail.h"
#include "ui/window/window_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The shell around pages: how one gets about, what it says, what it keeps.
class MainWindowTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    here_ = std::make_unique<WindowHere>();
    here_->open();
  }
  void cleanup() { here_.reset(); }

  void theRailShowsPages() {
    QCOMPARE(window().shown_page(), "runs");
    const auto buttons = window().findChild<Rail*>()->findChildren<QToolButton*>();
    QCOMPARE(buttons.size(), 3);
    QCOMPARE(buttons[1]->accessibleName(), "Live");
    QVERIFY2(buttons[1]->toolTip().contains("Ctrl+2"), qPrintable(buttons[1]->toolTip()));
    QTest::mouseClick(buttons[1], Qt::LeftButton);
    QVERIFY(shows(1));
    // Once more changes nothing.
    QTest::mouseClick(buttons[1], Qt::LeftButton);
    QVERIFY(shows(1));
    QTest::mouseClick(buttons[0], Qt::LeftButton);
    QVERIFY(shows(0));
  }

  void keysShowPages() {
    for (const auto modifier : {Qt::ControlModifier, Qt::AltModifier}) {
      for (const int index : {2, 0, 1, 0}) {
        QTest::keyClick(&window(), static_cast<Qt::Key>(Qt::Key_1 + index), modifier);
        QVERIFY(shows(index));
        // Typing goes to the page.
        QVERIFY(here_->page(index).isAncestorOf(qApp->focusWidget()));
      }
    }
  }

  void pagesAskForOthers() {
    Q_EMIT here_->bench().page_wanted("schedule");
    QVERIFY(shows(2));
    Q_EMIT here_->bench().page_wanted("nowhere");
    QVERIFY(shows(2));
    window().show_page("live");
    QVERIFY(shows(1));
  }

  void commandsOfPagesAreLocalAndInTheMenus() {
    QSignalSpy first(here_->page(0).command, &QAction::triggered);
    QSignalSpy second(here_->page(1).command, &QAction::triggered);
    QTest::keyClick(&window(), Qt::Key_F5);
    QCOMPARE(first.count(), 1);
    window().show_page("live");
    QTest::keyClick(qApp->focusWidget(), Qt::Key_F5);
    QCOMPARE(first.count(), 1);
    QCOMPARE(second.count(), 1);
    // The shown page's commands stand in the menu itself, those of others beneath their names.
    const auto entries = menu("Run")->actions();
    QCOMPARE(entries.first()->text(), "Command of Live");
    QCOMPARE(entries.last()->text(), "Schedule");
    QCOMPARE(entries.last()->menu()->actions().first(), here_->page(2).command);
    QVERIFY(window().all_actions().contains(here_->page(2).command));
  }

  void everyCommandSaysItsKeys() {
    QList<QKeySequence> keys;
    for (const QAction* action : window().all_actions()) {
      if (action->text().startsWith("Command of"))
        continue;
      for (const QKeySequence& key : action->shortcuts()) {
        QVERIFY2(!keys.contains(key), qPrintable(key.toString()));
        keys.append(key);
      }
      if (!action->shortcut().isEmpty() && !QStringList{"Undo", "Redo"}.contains(action->text()))
        QVERIFY2(action->toolTip().contains(action->shortcut().toString()), qPrintable(action->text()));
    }
    QVERIFY(keys.size() > 10);
  }

  void thePaletteTriggersAnyCommand() {
    QTest::keyClick(&window(), Qt::Key_K, Qt::ControlModifier);
    auto* palette = window().findChild<CommandPalette*>();
    QVERIFY(palette->isVisible());
    auto* filter = palette->findChild<QLineEdit*>();
    QSignalSpy third(here_->page(2).command, &QAction::triggered);
    QTest::keyClicks(filter, "comm schedule:");
    QTest::keyClick(filter, Qt::Key_Return);
    QCOMPARE(third.count(), 1);
    QVERIFY(!palette->isVisible());
    // The same from the corner with the mouse.
    QTest::mouseClick(window().findChild<QToolButton*>("corner"), Qt::LeftButton);
    QVERIFY(palette->isVisible());
    QTest::keyClicks(filter, "dark the");
    QTest::keyClick(filter, Qt::Key_Return);
    QVERIFY(here_->theme().dark());
    QVERIFY(here_->action("Dark theme")->isChecked());
    QVERIFY(!here_->action("Light theme")->isChecked());
    here_->theme().set_mode(Theme::Mode::system);
  }

  void aSheetTellsAllKeys() {
    auto* sheet = window().findChild<KeySheet*>();
    here_->page(0).setFocus();
    for (const auto key : {Qt::Key_Question, Qt::Key_F1}) {
      window().findChild<Rail*>()->findChild<QToolButton*>()->setFocus();
      QTest::keyClick(qApp->focusWidget(), key);
      QVERIFY(sheet->isVisible());
      sheet->reject();
    }
    // Typed into a field it is a letter.
    here_->page(0).edit->setFocus();
    here_->page(0).edit->clear();
    QTest::keyClick(here_->page(0).edit, Qt::Key_Question, Qt::ShiftModifier);
    QVERIFY(!sheet->isVisible());
    here_->action("Keyboard shortcuts")->trigger();
    QStringList texts;
    for (const QLabel* label : sheet->findChild<QScrollArea*>()->findChildren<QLabel*>())
      texts.append(label->text());
    for (const QAction* action : window().all_actions()) {
      if (!action->shortcut().isEmpty() && !action->property(key_help_property).isValid())
        QVERIFY2(texts.contains(plain_text(*action)), qPrintable(action->text()));
    }
    QVERIFY(texts.contains("Undo the last change on this page"));
    QVERIFY(texts.contains("Ctrl+K"));
    QVERIFY(texts.contains("Ctrl+2, Alt+2"));
    QVERIFY(texts.indexOf("Runs", texts.indexOf("Keyboard shortcuts")) <
            texts.indexOf("Schedule", texts.indexOf("Keyboard shortcuts")));
    // The page that is shown comes before the others.
    sheet->reject();
    window().show_page("schedule");
    here_->action("Keyboard shortcuts")->trigger();
    texts.clear();
    for (const QLabel* label : sheet->findChild<QScrollArea*>()->findChildren<QLabel*>())
      if (label->property("kind") == "heading")
        texts.append(label->text());
    QCOMPARE(texts, QStringList({"Anywhere", "Schedule", "Runs", "Live"}));
    sheet->reject();
  }

  void disabledCommandsAreInThePaletteWithTheReason() {
    QTest::keyClick(&window(), Qt::Key_K, Qt::ControlModifier);
    auto* palette = window().findChild<CommandPalette*>();
    const auto* list = palette->findChild<QListView*>();
    QTest::keyClicks(palette->findChild<QLineEdit*>(), "export runs");
    QCOMPARE(list->model()->index(0, 0).data(Qt::AccessibleTextRole).toString(), "Export runs…, No run is open");
    palette->findChild<QLineEdit*>()->clear();
    QTest::keyClicks(palette->findChild<QLineEdit*>(), "undo");
    QCOMPARE(list->model()->index(0, 0).data(Qt::AccessibleTextRole).toString(), "Undo, Nothing to undo on this page");
    palette->reject();
  }

  void undoAndRedo() {
    struct Change : QUndoCommand {
      explicit Change(QLineEdit* edit) : QUndoCommand("renaming run 1"), edit_(edit) {}
      void undo() override { edit_->setText("before"); }
      void redo() override { edit_->setText("after"); }
      QLineEdit* edit_;
    };
    QVERIFY(!here_->action("Undo")->isEnabled());
    here_->page(0).undo.push(new Change(here_->page(0).edit));
    Q_EMIT here_->bench().note("Ctrl+Z brings it back.");
    // What is done on a page is not taken back behind the others.
    window().show_page("live");
    QVERIFY(!here_->action("Undo")->isEnabled());
    window().show_page("runs");
    QCOMPARE(here_->action("Undo renaming run 1")->isEnabled(), true);
    here_->page(0).edit->clearFocus();
    QCOMPARE(here_->banner().text(), "Ctrl+Z brings it back.");
    QTest::keyClick(&window(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(here_->page(0).edit->text(), "before");
    QCOMPARE(here_->banner().text(), QString());
    QTest::keyClick(&window(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(here_->page(0).edit->text(), "after");
  }

  void oneBannerForWhatGoesWrong() {
    QCOMPARE(here_->banner().text(), QString());
    Q_EMIT here_->bench().problem("The run failed: choose a smaller batch.");
    QCOMPARE(here_->banner().text(), "The run failed: choose a smaller batch.");
    Q_EMIT here_->bench().run_database().problem("The database is gone.");
    QCOMPARE(here_->banner().text(), "The database is gone.");
    Q_EMIT here_->bench().run_database().problem({});
    QCOMPARE(here_->banner().text(), QString());
    // All well with the database says nothing of other troubles.
    Q_EMIT here_->bench().problem("The run failed.");
    Q_EMIT here_->bench().run_database().problem({});
    QCOMPARE(here_->banner().text(), "The run failed.");
    Q_EMIT here_->bench().note("Only the first 8 runs are plotted together.");
    QCOMPARE(here_->banner().text(), "Only the first 8 runs are plotted together.");
  }

  void saysNothingTwice() {
    here_->page(1).told = "no room for 64 examples";
    // On another page it is news; on its own it is there already.
    window().show_page("runs");
    Q_EMIT here_->bench().problem("Training: no room for 64 examples");
    QCOMPARE(here_->banner().text(), "Training: no room for 64 examples");
    window().show_page("live");
    QCOMPARE(here_->banner().text(), QString());
    Q_EMIT here_->bench().problem("Training: no room for 64 examples");
    QCOMPARE(here_->banner().text(), QString());
    Q_EMIT here_->bench().problem("The disk is full.");
    QCOMPARE(here_->banner().text(), "The disk is full.");
  }

  void bannersCoverNothing() {
    window().show_page("runs");
    QWidget* edit = here_->page(0).edit;
    const QPoint place = edit->mapTo(&window(), QPoint());
    Q_EMIT here_->bench().problem("The disk is full.");
    QVERIFY(here_->banner().isVisible());
    const auto top = [this](QWidget& widget) { return widget.mapTo(&window(), QPoint()).y(); };
    QTRY_VERIFY(top(here_->page(0)) + here_->page(0).height() <= top(here_->banner()));
    QCOMPARE(edit->mapTo(&window(), QPoint()), place);
  }

  void keepsWhatIsOpen() {
    window().show_page("schedule");
    window().setGeometry(60, 50, 1010, 640);
    here_->page(1).edit->setText("typed");
    window().setProperty(saved_in_property, "/somewhere");
    here_->action("Light theme")->trigger();
    QVERIFY(window().close());
    here_->destroy();
    here_->open();
    QVERIFY(shows(2));
    QCOMPARE(window().size(), QSize(1010, 640));
    QCOMPARE(here_->page(1).edit->text(), "typed");
    QCOMPARE(window().property(saved_in_property).toString(), "/somewhere");
    QCOMPARE(here_->theme().mode(), Theme::Mode::light);
    QCOMPARE(here_->banner().text(), QString());
    here_->action("Reset layout")->trigger();
    QCOMPARE(here_->page(1).edit->text(), "fresh");
    QVERIFY(window().size() != QSize(1010, 640));
  }

  void keepsChangesBeforeItCloses() {
    here_->page(0).edit->setText("typed before a crash");
    const auto kept = [this] {
      return Settings(here_->settings_file()).peek().value("pages").toObject().value("runs").toObject();
    };
    QTRY_COMPARE_WITH_TIMEOUT(kept().value("text").toString(), "typed before a crash", patience_ms);
  }

  void startsAnewWithBrokenSettings() {
    window().close();
    here_->destroy();
    QFile file(here_->settings_file());
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{ broken");
    file.close();
    here_->open();
    QVERIFY(here_->banner().text().contains("window.json.broken"));
    QVERIFY(shows(0));
    QCOMPARE(here_->page(0).edit->text(), "fresh");
  }

  void saysOnceWhereSettingsCannotBeKept() {
    window().close();
    here_->destroy();
    QDir(here_->folder().filePath("config")).removeRecursively();
    QFile blocker(here_->folder().filePath("config"));
    QVERIFY(blocker.open(QIODevice::WriteOnly));
    blocker.close();
    here_->open();
    here_->action("Reset layout")->trigger(); // keeps at once
    QTRY_VERIFY2(here_->banner().text().contains("cannot be saved"), qPrintable(here_->banner().text()));
    here_->banner().dismiss();
    here_->page(0).edit->setText("changed");
    QVERIFY(window().close()); // tries once more
    QCOMPARE(here_->banner().text(), QString());
  }

  void theDatabaseThatIsOpenIsNotOpenedAgain() {
    const QString open = QString::fromStdString(here_->database().string());
    const QString link = here_->folder().filePath("link.db");
    QFile file(open);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.link(link));
    for (const QString& name : {open, link}) {
      here_->action("Open database…")->trigger();
      QPointer<QFileDialog> dialog = window().findChild<QFileDialog*>();
      dialog->selectFile(name);
      QMetaObject::invokeMethod(dialog.data(), "accept");
      QTRY_VERIFY(!dialog);
      QVERIFY(window().isVisible());
      QCOMPARE(window().next_database(), QString());
    }
  }

  void opensAnotherDatabase() {
    const QString other = here_->folder().filePath("other.db");
    here_->action("Open database…")->trigger();
    auto* dialog = window().findChild<QFileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->selectFile(other);
    QMetaObject::invokeMethod(dialog, "accept");
    QTRY_VERIFY(!window().isVisible());
    QCOMPARE(window().next_database(), other);
    // The one that is open now comes back at the next start, and the other is among the recent ones.
    QCOMPARE(MainWindow::last_database(Settings(here_->settings_file())),
             QString::fromStdString(here_->database().string()));
    here_->destroy();
    here_->open();
    QMenu* recent = menu("Open recent");
    Q_EMIT recent->aboutToShow();
    QCOMPARE(recent->actions().size(), 1);
    QCOMPARE(recent->actions().first()->text(), other);
    recent->actions().first()->trigger();
    QTRY_COMPARE(window().next_database(), other);
  }

  void aFileThatIsNoDatabaseIsNotOpened() {
    const QString folder = here_->folder().filePath("a folder.db"), text = here_->folder().filePath("text.db");
    QVERIFY(QDir().mkdir(folder));
    QFile file(text);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("not a database, but a long enough text\n") > 0);
    file.close();
    for (const QString& name : {folder, text}) {
      here_->action("Open database…")->trigger();
      QPointer<QFileDialog> dialog = window().findChild<QFileDialog*>();
      Q_EMIT dialog->fileSelected(name); // Qt's own dialog goes into a folder instead
      dialog->close();
      QTRY_VERIFY(!dialog);
      QTRY_VERIFY2(here_->banner().text().contains(name), qPrintable(here_->banner().text()));
      QVERIFY(window().isVisible());
      QCOMPARE(window().next_database(), QString());
      here_->banner().dismiss();
    }
  }

  void theDatabaseIsBackedUpMergedAndPurged() {
    {
      store::RunStore store(here_->database());
      store.set_deleted({add_run(store, "gone")}, true);
      add_run(store, "here");
      store::RunStore other(here_->folder().filePath("other.db").toStdString());
      add_run(other, "there");
    }
    choose("Back up database…", here_->folder().filePath("copy.db"));
    QTRY_VERIFY2(here_->banner().text().startsWith("Backed up"), qPrintable(here_->banner().text()));
    choose("Merge a database…", here_->folder().filePath("other.db"));
    QTRY_VERIFY2(here_->banner().text().contains("runs added: 1"), qPrintable(here_->banner().text()));
    QTRY_COMPARE(here_->bench().run_database().runs().size(), std::size_t(2));
    here_->action("Restore deleted runs…")->trigger();
    QPointer<DeletedRuns> deleted;
    QTRY_VERIFY((deleted = window().findChild<DeletedRuns*>()));
    QVERIFY(deleted->findChild<QListWidget*>()->item(0)->text().contains("gone"));
    deleted->accept(); // the only one is chosen
    QTRY_COMPARE(here_->bench().run_database().runs().size(), std::size_t(3));
    QCOMPARE(here_->banner().text(), QString("1 run restored."));
    here_->action("Restore deleted runs…")->trigger();
    QTRY_COMPARE(here_->banner().text(), QString("No run is marked as deleted."));
    here_->banner().dismiss();
    here_->action("Purge deleted runs…")->trigger();
    QTRY_COMPARE(here_->banner().text(), QString("No run is marked as deleted."));
    store::RunStore(here_->database()).set_deleted({1}, true);
    here_->action("Purge deleted runs…")->trigger();
    QMessageBox* question = nullptr;
    QTRY_VERIFY((question = window().findChild<QMessageBox*>("purge_question")));
    QVERIFY(question->text().startsWith("Remove the run that is marked"));
    question->buttons().first()->click();
    QTRY_COMPARE(here_->banner().text(), QString("1 deleted run removed."));
    QCOMPARE(store::RunReader(here_->folder().filePath("copy.db").toStdString()).deleted().size(), std::size_t(1));
    QVERIFY(store::RunReader(here_->database()).deleted().empty());
  }

  void aDamagedDatabaseOffersARepairedCopy() {
    here_->destroy();
    {
      store::RunStore store(here_->database());
      for (int run = 0; run < 40; ++run)
        add_run(store, std::string(2000, 'n'));
    }
    {
      QFile file(QString::fromStdString(here_->database().string()));
      QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(file.size() - 3 * 4096));
      file.write(QByteArray(4096, '\x5a'));
    }
    here_->open();
    auto* banner = &here_->banner();
    const auto button = [banner] {
      for (auto* each : banner->findChildren<QPushButton*>())
        if (each->text() == "Repair a copy…" || each->text() == "Open it")
          return each;
      return static_cast<QPushButton*>(nullptr);
    };
    QTRY_VERIFY2(button() != nullptr && banner->isVisible(), qPrintable(banner->text()));
    button()->click();
    accept(here_->folder().filePath("repaired.db"));
    QTRY_VERIFY2(banner->text().contains("saved in"), qPrintable(banner->text()));
    QCOMPARE(store::RunReader(here_->folder().filePath("repaired.db").toStdString()).check(),
             std::vector<std::string>{});
    QCOMPARE(button()->text(), QString("Open it"));
    button()->click();
    QTRY_COMPARE(window().next_database(), here_->folder().filePath("repaired.db"));
  }

  void theStatusLineSaysWhatIsStored() {
    const auto texts = [this] {
      QStringList all;
      for (const QLabel* label : window().statusBar()->findChildren<QLabel*>())
        all.append(label->text());
      return all.join("|");
    };
    const auto* stored = window().statusBar()->findChild<QLabel*>("stored");
    QCOMPARE(stored->text(), QString("All saved"));
    QVERIFY2(stored->toolTip().startsWith("0 records saved"), qPrintable(stored->toolTip()));
    QVERIFY2(stored->toolTip().endsWith(", 0 waiting"), qPrintable(stored->toolTip()));
    here_->bench().job_queue().load_library();
    QTRY_VERIFY_WITH_TIMEOUT(texts().contains("thread"), patience_ms);
    Job* job = here_->bench().start_run(WindowHere::small_run(40));
    QVERIFY(shows(1)); // a run leads to its page
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(texts().contains("cpu · budget 100.0 MB"), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!stored->toolTip().startsWith("0 records saved"), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(stored->text(), QString("All saved"), patience_ms);
  }

  void restoresOpenedRuns() {
    Job* job = here_->bench().start_run(WindowHere::small_run(10));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(here_->bench().opened().size(), 1, patience_ms);
    const std::int64_t id = here_->bench().current()->id();
    QVERIFY(window().close());
    here_->destroy();
    here_->open();
    QTRY_COMPARE_WITH_TIMEOUT(here_->bench().opened().size(), 1, patience_ms);
    QCOMPARE(here_->bench().current()->id(), id);
    QTRY_COMPARE_WITH_TIMEOUT(here_->bench().current()->steps(), 10, patience_ms);
  }

private:
  MainWindow& window() { return here_->window(); }
  static std::int64_t add_run(store::RunStore& store, const std::string& name) {
    store::NewRun run;
    run.name = name;
    telemetry::RunOutcome outcome;
    outcome.status = telemetry::RunStatus::finished;
    return store.add_finished(run, outcome);
  }
  /// Enters a file into the file dialog that is open.
  void accept(const QString& file) {
    QPointer<QFileDialog> dialog;
    for (auto* each : window().findChildren<QFileDialog*>())
      if (each->isVisible())
        dialog = each;
    QVERIFY(dialog);
    dialog->selectFile(file);
    QMetaObject::invokeMethod(dialog.data(), "accept");
    QTRY_VERIFY(!dialog);
  }
  void choose(const QString& command, const QString& file) {
    here_->action(command)->trigger();
    accept(file);
  }
  QMenu* menu(const QString& title) {
    for (QMenu* each : window().menuBar()->findChildren<QMenu*>()) {
      if (each->title().remove('&') == title)
        return each;
    }
    qFatal("no menu %s", qPrintable(title));
  }
  /// The page is shown, and rail and menus say so.
  bool shows(int index) {
    const auto buttons = window().findChild<Rail*>()->findChildren<QToolButton*>();
    bool right = window().shown_page() == here_->page(index).key();
    for (int i = 0; i < buttons.size(); ++i)
      right = right && buttons[i]->isChecked() == (i == index) && here_->page(i).isVisible() == (i == index);
    return right;
  }

  std::unique_ptr<WindowHere> here_;
};

BATCHSCOPE_TEST(MainWindowTest)
#include "tst_main_window.moc"
