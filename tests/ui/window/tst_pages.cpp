#include <sys/stat.h>

#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QProcess>
#include <QPushButton>
#include <QSet>
#include <QTableView>
#include <algorithm>

#include <QTest>

#include "ui/new_run/field_editor.h"
#include "ui/new_run/spec_form.h"
#include "ui/plot/linked_plots.h"
#include "ui/widgets/widgets.h"
#include "ui/window/main_window.h"
#include "ui/window/pages.h"
#include "ui/workbench_test.h"

#include "test_program.h"
#include "tests/core/base/file_locks.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What the real pages have to be beside each other in one window.
class PagesTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    theme_.apply_to(*qApp);
    bench_ = std::make_unique<Workbench>(theme_, folder_.filePath("runs.db").toStdString());
    pages_ = make_pages(*bench_);
    window_ = std::make_unique<MainWindow>(theme_, *bench_, Settings(folder_.filePath("window.json")), pages_);
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }

  void theyAreKnownByTheirKeys() {
    QStringList keys;
    for (const Page* page : pages_) {
      keys.append(page->key());
      QVERIFY(!page->title().isEmpty());
      QVERIFY2(QFile::exists(":/batchscope/icons/" + page->icon() + ".svg"), qPrintable(page->icon()));
    }
    // As the workbench asks for them.
    QCOMPARE(keys, QStringList({"runs", "new-run", "fit", "find", "live", "schedule", "sweep", "compare", "advice"}));
  }

  void eachIsShownAlone() {
    for (int round = 0; round < 2; ++round) {
      for (int index = 0; index < pages_.size(); ++index) {
        QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_1 + index), Qt::ControlModifier);
        for (int other = 0; other < pages_.size(); ++other)
          QCOMPARE(pages_[other]->isVisible(), other == index);
        const QWidget* focus = qApp->focusWidget();
        QVERIFY2(focus && (focus == pages_[index] || pages_[index]->isAncestorOf(focus)),
                 qPrintable(pages_[index]->key()));
      }
    }
  }

  void eachFitsASmallScreen() { // 900x600 with the rail, the menu and the strips
    for (const Page* page : pages_) {
      const QSize least = page->minimumSizeHint();
      QVERIFY2(least.width() <= 830 && least.height() <= 480,
               qPrintable(QString("%1: %2x%3").arg(page->key()).arg(least.width()).arg(least.height())));
    }
  }

  /// Their cells are painted by what never cuts a number, see tests/ui/widgets/tst_elide.cpp.
  void noTableCutsNumbers() {
    const auto tables = window_->findChildren<QTableView*>();
    QVERIFY(tables.size() >= 6);
    for (const QTableView* table : tables)
      for (int column = -1; column < table->model()->columnCount(); ++column) {
        const auto* own = column < 0 ? nullptr : table->itemDelegateForColumn(column);
        QVERIFY2(qobject_cast<const CellDelegate*>(own ? own : table->itemDelegate()),
                 qPrintable(QString("%1 %2").arg(table->accessibleName()).arg(column)));
      }
  }

  void noKeyMeansTwoThings() {
    QSet<QAction*> of_pages;
    for (const Page* page : pages_) {
      for (QAction* action : page->page_actions())
        of_pages.insert(action);
    }
    QHash<QKeySequence, QString> taken;
    for (QAction* action : window_->all_actions()) {
      for (const QKeySequence& key : action->shortcuts()) {
        if (!of_pages.contains(action))
          taken.insert(key, action->text());
      }
    }
    taken.insert(QKeySequence("Ctrl+K"), "palette");
    for (const Page* page : pages_) {
      QHash<QKeySequence, QString> own = taken;
      for (const QAction* action : page->page_actions()) {
        // Keys of one widget alone: that widget takes them before anything else does.
        if (action->shortcutContext() == Qt::WidgetShortcut)
          continue;
        for (const QKeySequence& key : action->shortcuts()) {
          QVERIFY2(
              !own.contains(key),
              qPrintable(QString("%1: %2 is %3 and %4").arg(page->key(), key.toString(), own[key], action->text())));
          own.insert(key, action->text());
        }
      }
    }
  }

  void commandsOfPagesSayWhatTheyDo() {
    for (const Page* page : pages_) {
      for (const QAction* action : page->page_actions()) {
        if (action->isSeparator())
          continue;
        QVERIFY2(!action->text().isEmpty() && !action->toolTip().isEmpty(), qPrintable(page->key()));
        // Only where its page is: another page may have the same key.
        if (!action->shortcut().isEmpty())
          QVERIFY2(action->shortcutContext() == Qt::WidgetWithChildrenShortcut ||
                       action->shortcutContext() == Qt::WidgetShortcut,
                   qPrintable(page->key() + ": " + action->text()));
      }
    }
  }

  // Any other way in which a key gets a meaning must come onto the sheet, too.
  void theSheetTellsTheirKeys() {
    QStringList places;
    for (const Page* page : pages_) {
      for (const KeyGroup& group : page->key_groups()) {
        places.append(group.place);
        for (const KeyHelp& line : group.keys)
          QVERIFY2(!line.keys.isEmpty() && !line.what.isEmpty(), qPrintable(group.place));
      }
    }
    QCOMPARE(places.count("Plots"), 4);
    QStringList plots;
    for (const KeyHelp& line : LinkedPlots::key_help())
      plots += line.keys.split(", ");
    for (const char* key : {"Left", "Right", "+", "-", "Home", "End", "F", "C", "M", "Shift+M", "Up", "Down", "Escape"})
      QVERIFY2(plots.contains(key), key);
  }

  void undoBringsBackTheFormThatAPresetDiscarded() {
    QTest::keyClick(window_.get(), Qt::Key_2, Qt::ControlModifier);
    auto* form = pages_[1]->findChild<SpecForm*>("network-form");
    QTest::keyClicks(qApp->focusWidget(), "mine"); // the name, into which the keyboard comes
    const QJsonObject mine = form->texts();
    const auto boxes = pages_[1]->findChildren<QComboBox*>();
    const auto found = std::find_if(boxes.begin(), boxes.end(),
                                    [](const QComboBox* box) { return box->accessibleName() == "Presets"; });
    QVERIFY(found != boxes.end());
    QComboBox* presets = *found;
    Q_EMIT presets->activated(1);
    QVERIFY(form->texts() != mine);
    // Whatever has the keyboard.
    QWidget* name = form->editor("name")->focusProxy();
    name->setFocus();
    QTest::keyClick(name, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(form->texts(), mine);
    QTest::keyClick(name, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(form->texts() != mine);
    presets->setFocus();
    QTest::keyClick(presets, Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(name, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(form->editor("name")->text(), "");
  }

  void theirStatesComeBack() {
    QList<QJsonObject> states;
    for (const Page* page : pages_)
      states.append(page->state());
    for (Page* page : pages_) {
      // Whatever is broken is left alone.
      page->restore({{"fields", 3}, {"view", "broken"}, {"columns", QJsonObject()}, {"splitter", 17}, {"setup", true}});
      page->restore({});
    }
    for (int index = 0; index < pages_.size(); ++index) {
      pages_[index]->restore(states[index]);
      QCOMPARE(pages_[index]->state(), states[index]);
    }
  }

  void spaceOnLivePausesWhateverWasDoneBefore() {
    // A search, so that Find has an answer and buttons for it.
    run::RunSpec spec = small_run(1'000'000);
    Job* search = bench_->job_queue().find({.spec = spec});
    QTRY_COMPARE_WITH_TIMEOUT(search->state(), Job::State::done, patience_ms);
    QTest::keyClick(window_.get(), Qt::Key_3, Qt::ControlModifier);
    // A run from the form, by keys alone.
    bench_->propose_run(spec);
    QTRY_VERIFY(pages_[1]->isVisible());
    QTest::keyClick(qApp->focusWidget(), Qt::Key_Return, Qt::ControlModifier);
    QTRY_VERIFY(pages_[4]->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(bench_->current() && bench_->current()->running(), patience_ms);
    QTRY_VERIFY(pages_[4]->findChild<LinkedPlots*>()->isVisible());
    QWidget* focus = qApp->focusWidget();
    QVERIFY2(focus != nullptr && focus == pages_[4]->focusProxy(),
             focus ? qPrintable(QString(focus->metaObject()->className()) + " " + focus->objectName()) : "nothing");
    QTest::keyClick(focus, Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(bench_->current()->paused(), patience_ms);
    bench_->job_queue().cancel_all();
    QTRY_VERIFY_WITH_TIMEOUT(bench_->job_queue().idle(), patience_ms);
  }

  // Any other opener of these files takes the locks away that keep other programs from removing what is written.
  void theirFileDialogsLeaveTheDatabaseAlone() {
    Job* job = bench_->start_run(small_run(3));
    QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!bench_->opened().isEmpty() && bench_->run_database().loaded(), patience_ms);
    auto* table = pages_[0]->findChild<QTableView*>();
    QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0, patience_ms);
    table->selectAll();
    QTRY_VERIFY(database_is_locked());
    int dialogs = 0;
    for (QAction* action : window_->all_actions()) {
      if (action->isEnabled() && action->text().endsWith(u'…') && !action->text().startsWith("&Purge"))
        dialogs += database_shown_by([action] { action->trigger(); }, action->text());
    }
    // That of the program's folder shows no files.
    for (QPushButton* button : pages_[1]->findChild<SpecForm*>("network-form")->findChildren<QPushButton*>()) {
      if (button->text() == "Browse…")
        dialogs += database_shown_by([button] { button->click(); }, button->text());
    }
    // Open, new, backup, merge, repair and export of the window; load, save and browse of a new run; two exports of
    // runs; four files of the plots of three pages.
    QCOMPARE(dialogs, 29);
    // Another program that is done with the database does not remove what this one still writes to.
    const auto log = inode_of("runs.db-wal");
    QVERIFY(log != 0);
    QCOMPARE(QProcess::execute(BATCHSCOPE_CLI, {"--db", folder_.filePath("runs.db"), "--quiet", "list", "--json"}), 0);
    QCOMPARE(inode_of("runs.db-wal"), log);
  }

private:
  bool database_is_locked() const {
    const std::string file = folder_.filePath("runs.db").toStdString();
    return batchscope::test::is_locked_here(file) && batchscope::test::is_locked_here(file + "-shm");
  }

  /// 0 where there is no such file.
  ino_t inode_of(const char* name) const {
    struct stat file {};
    return ::stat(qPrintable(folder_.filePath(name)), &file) == 0 ? file.st_ino : 0;
  }

  /// Whether it opened a file dialog, which showed the folder of the database, and left it alone.
  bool database_shown_by(const std::function<void()>& open, const QString& what) {
    open();
    const QPointer<QFileDialog> dialog = window_->findChild<QFileDialog*>();
    if (!dialog)
      return false;
    dialog->setNameFilter("All files (*)");
    dialog->setDirectory(folder_.path());
    const auto* view = dialog->findChild<QAbstractItemView*>("listView");
    const auto shows = [view] {
      const auto* model = view->model();
      return !model->match(model->index(0, 0, view->rootIndex()), Qt::DisplayRole, "runs.db", 1, Qt::MatchExactly)
                  .isEmpty();
    };
    if (!QTest::qWaitFor(shows, patience_ms))
      qFatal("%s: the folder is not shown", qPrintable(what));
    dialog->grab(); // icons are asked for when they are painted
    dialog->reject();
    if (!QTest::qWaitFor([&] { return !dialog; }, patience_ms) || !database_is_locked())
      qFatal("%s: the locks of the database are gone", qPrintable(what));
    return true;
  }

  QTemporaryDir folder_;
  Theme theme_;
  std::unique_ptr<Workbench> bench_;
  QList<Page*> pages_;
  std::unique_ptr<MainWindow> window_;
};

BATCHSCOPE_TEST(PagesTest)
#include "tst_pages.moc"
