#include "core/base/open_database.h"

#include <filesystem>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/base/file_locks.h"

using namespace batchscope;

namespace fs = std::filesystem;

/// Which files nobody but SQLite may open.
class OpenDatabaseTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void knowsTheFilesOfAnOpenDatabase() {
    QVERIFY(!is_open_database(file()));
    auto store = std::make_unique<store::RunStore>(file());
    store->add_sweep("{}");
    store->flush();
    const fs::path hard = file("hard.db"), soft = file("soft.db");
    fs::create_hard_link(file(), hard);
    fs::create_symlink(file(), soft);
    for (const fs::path& each : {file(), file("runs.db-wal"), file("runs.db-shm"), hard, soft}) {
      QVERIFY2(fs::exists(each), each.c_str());
      QVERIFY2(is_open_database(each), each.c_str());
    }
    store.reset();
    for (const fs::path& each : {file(), hard, soft})
      QVERIFY2(!is_open_database(each), each.c_str());
  }

  void knowsADatabaseThatIsRead() {
    std::make_unique<store::RunStore>(file())->add_sweep("{}");
    QVERIFY(!is_open_database(file()));
    const store::RunReader reader(file());
    QCOMPARE(reader.list().size(), std::size_t(0));
    QVERIFY(is_open_database(file()));
    QVERIFY(is_open_database(fs::relative(file())));
  }

  void askingKeepsItsLocks() {
    store::RunStore store(file());
    store.add_sweep("{}");
    QVERIFY(test::is_locked_here(file()));
    QVERIFY(is_open_database(file()));
    QVERIFY(test::is_locked_here(file()));
    QVERIFY(test::is_locked_here(file("runs.db-shm")));
    // Should something open and close the file all the same, locks of SQLite's own kind would be gone.
    QFile other(QString::fromStdString(file().string()));
    QVERIFY(other.open(QIODevice::ReadOnly));
    other.close();
    QVERIFY(test::is_locked_here(file()));
  }

  void otherFilesMayBeRead() {
    QFile data(folder_->filePath("data.csv"));
    QVERIFY(data.open(QIODevice::ReadWrite));
    data.write("SQLite is no data\n");
    QVERIFY(data.flush());
    const store::RunStore store(file());
    for (const QString& each : {data.fileName(), folder_->path(), folder_->filePath("missing"), QString()}) {
      QVERIFY2(!is_open_database(each.toStdString()), qPrintable(each));
      refuse_open_database(each.toStdString());
    }
  }

  void refusesByName() {
    const store::RunStore store(file());
    const std::string wanted = file().string() + ": is the run database that is open; use another file";
    try {
      refuse_open_database(file());
      QFAIL("accepted");
    } catch (const Error& error) {
      QCOMPARE(QString(error.what()), QString::fromStdString(wanted));
      QVERIFY(error.kind() == Error::Kind::input);
    }
  }

  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

private:
  fs::path file(const char* name = "runs.db") const { return folder_->filePath(name).toStdString(); }

  std::unique_ptr<QTemporaryDir> folder_;
};

BATCHSCOPE_TEST(OpenDatabaseTest)
#include "tst_open_database.moc"
