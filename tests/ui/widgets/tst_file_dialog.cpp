#include "ui/widgets/file_dialog.h"

#include <array>
#include <functional>

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <QAbstractItemView>
#include <QAction>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFileSystemModel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QShortcut>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "test_program.h"
#include "tests/core/base/file_locks.h"

using namespace batchscope::ui;
using batchscope::test::is_locked_here;

namespace {

/// A file that this process has locked, as SQLite locks those of a database.
class LockedFile {
public:
  explicit LockedFile(const QString& name)
      : name_(name.toStdString()), descriptor_(::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    if (descriptor_ < 0 || ::write(descriptor_, "SQLite format 3", 16) != 16 ||
        ::fcntl(descriptor_, F_SETLK, &lock) != 0)
      qFatal("%s cannot be locked", name_.c_str());
  }
  ~LockedFile() { ::close(descriptor_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  bool locked() const { return is_locked_here(name_); }

private:
  std::string name_;
  int descriptor_;
};

/// Counts how often files of a folder are opened, by whomever.
class OpenCount {
public:
  explicit OpenCount(const QString& folder) : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (queue_ < 0 || ::inotify_add_watch(queue_, qPrintable(folder), IN_OPEN) < 0)
      qFatal("%s cannot be watched", qPrintable(folder));
  }
  ~OpenCount() { ::close(queue_); }
  OpenCount(const OpenCount&) = delete;
  OpenCount& operator=(const OpenCount&) = delete;

  /// Since it was asked last.
  int files() {
    int count = 0;
    alignas(inotify_event) std::array<char, 1 << 16> buffer{};
    for (ssize_t size; (size = ::read(queue_, buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        count += (event->mask & IN_ISDIR) == 0;
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
    return count;
  }

private:
  int queue_;
};

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
  void opensNoFileOfTheFolder_data() {
    QTest::addColumn<bool>("saving");
    QTest::newRow("to open") << false;
    QTest::newRow("to save") << true;
  }
  void opensNoFileOfTheFolder() {
    QFETCH(bool, saving);
    const LockedFile database(path("runs.db")), log(path("runs.db-wal")), index(path("runs.db-shm"));
    OpenCount opened(folder_->path());
    // The probe itself sees what an open and close do.
    { QFile(path("runs.db")).open(QIODevice::ReadOnly); }
    QCOMPARE(opened.files(), 1);
    QVERIFY(!database.locked());
    const LockedFile again(path("runs.db"));
    QVERIFY(again.locked() && log.locked() && index.locked());
    opened.files();

    // Twice: Qt begins where it was before.
    for (int round = 0; round < 2; ++round) {
      const QPointer<QFileDialog> dialog = saving ? save_file_dialog(nullptr, "Export", {"All (*)"}, "x.csv")
                                                  : open_file_dialog(nullptr, "Open", {"All (*)"});
      for (const auto mode : {QFileDialog::List, QFileDialog::Detail}) {
        dialog->setViewMode(mode);
        dialog->setDirectory(folder_->path());
        dialog->open();
        QTRY_COMPARE(listed(*dialog), QStringList({"runs.db", "runs.db-shm", "runs.db-wal"}));
        dialog->grab(); // icons are asked for when they are painted
      }
      // Completion and a choice.
      auto* edit = dialog->findChild<QLineEdit*>("fileNameEdit");
      QTest::keyClicks(edit, "runs");
      dialog->selectFile(path("runs.db"));
      QCOMPARE(opened.files(), 0);
      dialog->reject();
      QTRY_VERIFY(!dialog);
    }
    QCOMPARE(opened.files(), 0);
    QVERIFY(again.locked() && log.locked() && index.locked());
  }

  void filesStayWhereTheyAre() {
    write("notes.txt");
    for (const bool saving : {false, true}) {
      const QPointer<QFileDialog> dialog = saving ? save_file_dialog(nullptr, "Export", {"All (*)"}, "x.csv")
                                                  : open_file_dialog(nullptr, "Open", {"All (*)"});
      dialog->setDirectory(folder_->path());
      dialog->open();
      QTRY_COMPARE(listed(*dialog), QStringList({"notes.txt"}));
      auto* view = dialog->findChild<QAbstractItemView*>("listView");
      const QModelIndex file = view->model()->index(0, 0, view->rootIndex());
      view->setFocus();
      view->setCurrentIndex(file);
      QTest::keyClick(view, Qt::Key_F2);
      QVERIFY(view->viewport()->findChild<QLineEdit*>() == nullptr); // no editor of the name
      // Delete asks in a box of its own: there must be none.
      QTimer::singleShot(0, dialog, [] {
        if (QWidget* box = QApplication::activeModalWidget(); box && !qobject_cast<QFileDialog*>(box))
          box->close();
      });
      QTest::keyClick(view, Qt::Key_Delete);
      QVERIFY(QFile::exists(path("notes.txt")));
      const bool read_only = dialog->testOption(QFileDialog::ReadOnly);
      QVERIFY(read_only || view->dragDropMode() == QAbstractItemView::NoDragDrop);
      QVERIFY(read_only || !dialog->findChild<QAction*>("qt_delete_action")->isVisible());
      dialog->reject();
      QTRY_VERIFY(!dialog);
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
  void write(const char* name) const {
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

BATCHSCOPE_TEST(FileDialogTest)
#include "tst_file_dialog.moc"
