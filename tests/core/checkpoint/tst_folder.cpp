#include "core/checkpoint/folder.h"

#include <QTemporaryDir>
#include <QTest>

#include "checkpoint_test.h"
#include "test_program.h"

using namespace batchscope::checkpoint;
using namespace batchscope::checkpoint::test;

namespace fs = std::filesystem;

class TestFolder : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void findsWhatBelongsToRunsThatAreGone() {
    const QTemporaryDir directory;
    const fs::path database = fs::path(directory.path().toStdString()) / "runs.db";
    const std::string kept(32, 'a'), gone(32, 'b');
    QCOMPARE(orphans(database, {}).folders.size(), std::size_t{0}); // there are none at all
    for (const std::string& uid : {kept, gone}) {
      fs::create_directories(folder_of_run(database, uid));
      write_bytes(file_of_step(folder_of_run(database, uid), 5), std::string(100, 'x'));
      write_bytes(file_of_step(folder_of_run(database, uid), 12), std::string(50, 'x'));
    }
    const fs::path other = folder_of_run(database, "the user's own");
    fs::create_directories(other);
    const Orphans found = orphans(database, {kept});
    QCOMPARE(found.folders, std::vector<fs::path>{folder_of_run(database, gone)});
    QCOMPARE(found.files, std::int64_t{2});
    QCOMPARE(found.bytes, std::uint64_t{150});
    remove(found);
    QVERIFY(!fs::exists(folder_of_run(database, gone)));
    QVERIFY(fs::exists(other));
    QCOMPARE(files_in(folder_of_run(database, kept)).size(), std::size_t{2});
    QCOMPARE(files_in(folder_of_run(database, kept)).front().step, std::int64_t{12});
    QCOMPARE(files_in(folder_of_run(database, gone)).size(), std::size_t{0});
  }

  void otherNamesAreNoCheckpoints() {
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    for (const char* name : {"step-.safetensors", "step-x.safetensors", "step--3.safetensors", "step-3.safetensors.bak",
                             "step-99999999999999999999.safetensors", ".step-3.safetensors.12.unfinished"})
      write_bytes(folder / name, "x");
    QCOMPARE(files_in(folder).size(), std::size_t{0});
  }
};

BATCHSCOPE_TEST(TestFolder)
#include "tst_folder.moc"
