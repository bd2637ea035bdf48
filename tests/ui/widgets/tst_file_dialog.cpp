#include "ui/widgets/file_dialog.h"

#include <memory>

#include <QAbstractItemView>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/base/file_locks.h"

using namespace batchscope::ui;
using batchscope::test::is_locked_here;

namespace {

QStringList listed(const QFileDialog& dialog) {
  QStringList names;
  const auto* view = dialog.findChild<QAbstractItemView*>("listView");
  for (int row = 0; row < view->model()->rowCount(view->rootIndex()); ++row)
    names.append(view->model()->index(row, 0, view->rootIndex()).data().toString());
  names.sort();
  return names;
}

} // namespace

/// The dialogs that all pages use.
class FileDialogTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Dialogs open the files of a folder to find out their types, and close them: those of an open database, too.
  void anOpenDatabaseStaysLocked() {
    const batchscope::store::RunStore store(path("runs.db").toStdString());
    for (const bool saving : {false, true}) {
      const QPointer<QFileDialog> dialog = saving ? save_file_dialog(nullptr, "Export", {"All (*)"}, "x.csv")
                                                  : open_file_dialog(nullptr, "Open", {"All (*)"});
      dialog->setViewMode(QFileDialog::Detail);
      dialog->setDirectory(folder_->path());
      dialog->open();
      QTRY_VERIFY(listed(*dialog).contains("runs.db-wal"));
      dialog->grab(); // icons are asked for when they are painted
      dialog->selectFile(path("runs.db"));
      dialog->reject();
      QTRY_VERIFY(!dialog);
      for (const char* name : {"runs.db", "runs.db-shm", "runs.db-wal"}) // as dialogs of other desktops may do
        QVERIFY(QFile(path(name)).open(QIODevice::ReadOnly));
      QVERIFY(is_locked_here(path("runs.db-shm").toStdString()));
    }
  }

  void suggestsANameThatFollowsTheFilter() {
    const QPointer<QFileDialog> dialog =
        save_file_dialog(nullptr, "Export", {"CSV (*.csv)", "JSON (*.json)", "All files (*)"}, "base line.csv");
    dialog->setDirectory(folder_->path());
    dialog->open();
    auto* edit = dialog->findChild<QLineEdit*>("fileNameEdit");
    QCOMPARE(edit->text(), "base line.csv");
    const auto choose = [&](const QString& filter) {
      dialog->selectNameFilter(filter);
      Q_EMIT dialog->filterSelected(filter);
    };
    choose("JSON (*.json)");
    QCOMPARE(edit->text(), "base line.json");
    choose("All files (*)");
    QCOMPARE(edit->text(), "base line.json");
    // A name of one's own gets the ending where it has none.
    edit->setText("mine");
    QSignalSpy chosen(dialog, &QFileDialog::fileSelected);
    QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save), Qt::LeftButton);
    QCOMPARE(chosen.value(0).value(0).toString(), path("mine.json"));
  }

  void beginsWhereAFileWasSavedLast() {
    QWidget window;
    const auto dialog_here = [&window] {
      return QPointer<QFileDialog>(save_file_dialog(&window, "Export", {"CSV (*.csv)"}, "x.csv"));
    };
    QPointer<QFileDialog> first = dialog_here();
    first->setDirectory(folder_->path());
    first->open();
    QMetaObject::invokeMethod(first.data(), "accept");
    QTRY_VERIFY(!first);
    // Whatever was opened meanwhile, and wherever.
    QPointer<QFileDialog> other = open_file_dialog(&window, "Open", {"All (*)"});
    other->setDirectory(QDir::rootPath());
    other->open();
    other->reject();
    QTRY_VERIFY(!other);
    const QPointer<QFileDialog> next = dialog_here();
    QCOMPARE(next->directory().absolutePath(), QFileInfo(folder_->path()).absoluteFilePath());
    QCOMPARE(next->findChild<QLineEdit*>("fileNameEdit")->text(), "x.csv");
    delete next;
  }

  void namesOfRunsBecomeNamesOfFiles_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("name");
    const auto row = [](const char* tag, const QString& text, const QString& name) {
      QTest::newRow(tag) << text << name;
    };
    row("plain", "baseline", "baseline");
    row("spaces inside", " two words ", "two words");
    row("a path", "../../etc/passwd", "etc-passwd");
    row("hidden", ".hidden", "hidden");
    row("other systems", R"(a:b*c?d"e<f>g|h\i)", "a-b-c-d-e-f-g-h-i");
    row("control characters", "a\nb\tc\x7f", "a-b-c");
    row("not ASCII", QString::fromUtf8("größe ×2"), QString::fromUtf8("größe ×2"));
    row("nothing left", "///", "run");
    row("empty", "", "run");
    row("long", QString(300, 'x'), QString(80, 'x'));
    row("cut inside a character", QString(79, 'x') + QString::fromUtf8("😀"), QString(79, 'x'));
  }
  void namesOfRunsBecomeNamesOfFiles() {
    QFETCH(QString, text);
    QFETCH(QString, name);
    QCOMPARE(file_name_of(text, "run"), name);
  }

  void severalRunsHaveOneFile() {
    QCOMPARE(file_name_of_runs("baseline", 7, 1), "baseline");
    QCOMPARE(file_name_of_runs("", 7, 1), "run-7");
    QCOMPARE(file_name_of_runs("baseline", 7, 3), "baseline and 2 more");
  }

  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

private:
  QString path(const char* name) const { return folder_->filePath(name); }

  std::unique_ptr<QTemporaryDir> folder_;
};

BATCHSCOPE_TEST(FileDialogTest)
#include "tst_file_dialog.moc"
