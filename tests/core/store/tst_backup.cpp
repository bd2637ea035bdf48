#include <QTest>

#include <atomic>
#include <thread>

#include "core/store/care/care.h"
#include "core/store/run_reader.h"
#include "damaged_files.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

std::set<std::string> names_beside(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

} // namespace

class TestBackup : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void has_everything();
  void is_of_one_moment_while_others_write();
  void overwrites_only_if_told();
  void a_full_disk_leaves_nothing();
  void a_folder_that_cannot_be_written();
};

void TestBackup::has_everything() {
  const Folder folder;
  make_small_database(folder.file());
  const auto copy = folder.path() / "copy.db";
  back_up(folder.file(), copy, false);
  QVERIFY(all_read(copy) == all_read(folder.file()));
  QCOMPARE(RunReader(copy).check(), std::vector<std::string>{});
  QVERIFY(!std::filesystem::exists(copy.string() + ".unfinished"));
}

void TestBackup::is_of_one_moment_while_others_write() {
  const Folder folder;
  RunStore store(folder.file(), {.interval = std::chrono::milliseconds(1)});
  auto run = store.begin(new_run("open"));
  std::atomic<bool> stop = false;
  std::thread writing([&] {
    for (std::int64_t step = 1; !stop; ++step)
      run->sink().record(record_at(step));
  });
  for (int i = 0; i < 5; ++i) {
    const auto copy = folder.file("copy-" + std::to_string(i) + ".db");
    back_up(folder.file(), copy, false);
    QCOMPARE(RunReader(copy).check(), std::vector<std::string>{});
  }
  stop = true;
  writing.join();
  run->finish(outcome(telemetry::RunStatus::finished));
}

void TestBackup::overwrites_only_if_told() {
  const Folder folder;
  make_small_database(folder.file());
  const auto copy = folder.file("copy.db");
  std::ofstream(copy) << "precious";
  Error::Kind kind{};
  QCOMPARE(error_of([&] { back_up(folder.file(), copy, false); }, &kind),
           copy.string() + ": already exists; --force overwrites it");
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(text_of(copy), std::string("precious"));
  back_up(folder.file(), copy, true);
  QVERIFY(all_read(copy) == all_read(folder.file()));
  std::filesystem::create_symlink(folder.file(), folder.file("link.db"));
  QCOMPARE(error_of([&] { back_up(folder.file(), folder.file("link.db"), true); }),
           folder.file("link.db").string() + ": is the database itself; give another file");
  QCOMPARE(error_of([&] { back_up(folder.file(), folder.path(), true); }),
           folder.path().string() + ": is a folder; give a file in it");
  const RunStore open(copy);
  QVERIFY(error_of([&] { back_up(folder.file(), copy, true); }).find("is in use as a database") != std::string::npos);
  QVERIFY(!error_of([&] { back_up(folder.file("none.db"), folder.file("other.db"), false); }).empty());
  QVERIFY(!std::filesystem::exists(folder.file("other.db")));
}

void TestBackup::a_full_disk_leaves_nothing() {
  const Folder folder;
  make_small_database(folder.file());
  const auto before = names_beside(folder.path());
  const auto copy = folder.file("copy.db");
  Error::Kind kind{};
  std::string error;
  {
    const FileSizeLimit full(100'000);
    error = error_of([&] { back_up(folder.file(), copy, false); }, &kind);
  }
  QVERIFY2(error.starts_with(copy.string() + ": ") && error.find("free some space") != std::string::npos,
           error.c_str());
  QCOMPARE(kind, Error::Kind::failed);
  QCOMPARE(names_beside(folder.path()), before);
}

void TestBackup::a_folder_that_cannot_be_written() {
  const Folder folder;
  make_small_database(folder.file());
  const auto locked = folder.path() / "locked";
  std::filesystem::create_directory(locked);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  std::filesystem::permissions(folder.file(), std::filesystem::perms(0666));
  std::filesystem::permissions(locked, std::filesystem::perms(0555));
  const OrdinaryUser user;
  if (user.is_root())
    QSKIP("root cannot become an ordinary user here");
  Error::Kind kind{};
  const std::string error = error_of([&] { back_up(folder.file(), locked / "copy.db", false); }, &kind);
  QVERIFY2(error.starts_with((locked / "copy.db").string() + ": "), error.c_str());
  QCOMPARE(kind, Error::Kind::input);
}

BATCHSCOPE_TEST(TestBackup)
#include "tst_backup.moc"
