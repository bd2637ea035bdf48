#include <fstream>
#include <iterator>
#include <random>

#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/error.h"
#include "core/store/care/care.h"
#include "core/store/run_reader.h"
#include "damaged_files.h"
#include "other_program.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

void change_behind(const std::filesystem::path& file, const std::string& text) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(text);
}

} // namespace

class TestRepair : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void saves_what_is_whole();
  void a_repaired_copy_leaves_the_file_as_it_is();
  void damage_is_found_after_a_clean_end();
  void whatever_is_damaged_the_rest_is_saved();
  void the_ledger_says_what_is_missing();
  void a_damaged_schema_is_that_of_a_new_database_data();
  void a_damaged_schema_is_that_of_a_new_database();
  void nothing_can_be_read();
  void a_full_disk_or_a_lock_changes_nothing();
};

void TestRepair::saves_what_is_whole() {
  const Folder folder;
  make_small_database(folder.file());
  const std::string expected = all_read(folder.file());
  const std::string loss = std::to_string(RunReader(folder.file()).run(1).outcome.loss.value());
  change_behind(folder.file(), "UPDATE sweep SET spec = '{1}'; UPDATE run SET name = 'other' WHERE id = 1; UPDATE "
                               "event SET kind = 'oom' WHERE id = 1;"
                               "UPDATE value_chunk SET data = zeroblob(length(data)) WHERE first = 0 AND series = "
                               "(SELECT id FROM series WHERE run = 2 AND name = 'loss')");
  const std::string damaged = bytes_in(folder.file());
  const RepairReport report = repair(folder.file());
  QCOMPARE(report.backup, std::filesystem::path(folder.file().string() + ".damaged"));
  QVERIFY(bytes_in(report.backup) == damaged);
  QCOMPARE(report.lost, (std::vector<std::string>{"sweep 1: spec", "run 1: name", "event 1: kind damaged",
                                                  "run 2: 1024 of 1200 points of the series loss"}));
  const RunReader reader(folder.file());
  QCOMPARE(reader.check(), std::vector<std::string>{});
  QCOMPARE(reader.run(1).name, std::string());
  QCOMPARE(reader.run(1).note, std::string("a note"));
  QCOMPARE(std::to_string(reader.run(1).outcome.loss.value()), loss);
  QCOMPARE(reader.series(1, "loss").size(), std::size_t(1200));
  QCOMPARE(reader.series(2, "loss").size(), std::size_t(176));
  QCOMPARE(reader.series(2, "batch").size(), std::size_t(1200));
  QCOMPARE(reader.deleted().size(), std::size_t(1));
  QCOMPARE(reader.runs_of_sweep(1).size(), std::size_t(3));
  QCOMPARE(reader.views().size(), std::size_t(1));
  // The second backup does not overwrite the first, and a sound file stays as it is when it is written again.
  change_behind(folder.file(), "UPDATE run SET note = '' WHERE id = 1");
  QCOMPARE(repair(folder.file()).backup, std::filesystem::path(folder.file().string() + ".damaged-2"));
  QVERIFY(bytes_in(report.backup) == damaged);
}

void TestRepair::a_repaired_copy_leaves_the_file_as_it_is() {
  const Folder folder;
  make_small_database(folder.file());
  change_behind(folder.file(), "UPDATE run SET name = 'other' WHERE id = 1");
  const std::string damaged = bytes_in(folder.file());
  const std::filesystem::path copy = folder.file().string() + "-repaired";
  const RepairReport report = repair_copy(folder.file(), copy);
  QCOMPARE(report.lost, std::vector<std::string>{"run 1: name"});
  QVERIFY(report.backup.empty());
  QVERIFY(bytes_in(folder.file()) == damaged);
  QCOMPARE(RunReader(copy).check(), std::vector<std::string>{});
  QVERIFY(!std::filesystem::exists(copy.string() + ".damaged"));
  const std::string there = bytes_in(copy);
  QVERIFY_THROWS_EXCEPTION(Error, repair_copy(folder.file(), copy)); // nothing is ever replaced
  QVERIFY(bytes_in(copy) == there);
  const std::filesystem::path nowhere = folder.file().parent_path() / "none" / "copy.db";
  QVERIFY_THROWS_EXCEPTION(Error, repair_copy(folder.file(), nowhere));
  QVERIFY_THROWS_EXCEPTION(Error, repair_copy(folder.file().string() + "-missing", copy.string() + "-2"));
}

/// Also where no program was killed; a check that is not wanted any more ends at once.
void TestRepair::damage_is_found_after_a_clean_end() {
  const Folder folder;
  make_small_database(folder.file());
  QCOMPARE(RunReader(folder.file()).quick_check(), std::vector<std::string>{});
  constexpr std::streamoff page = 4096;
  std::streamoff root = 0;
  {
    SQLite::Database database(folder.file().string());
    root = database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'event'").getInt64();
  }
  std::fstream file(folder.file(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp((root - 1) * page);
  file.write(std::string(page, '\x5a').data(), page);
  file.close();
  const auto found = RunReader(folder.file()).quick_check();
  QVERIFY(!found.empty());
  QVERIFY2(found.front().starts_with("database: "), found.front().c_str());
  QCOMPARE(RunReader(folder.file()).quick_check([] { return true; }), std::vector<std::string>{});
}

void TestRepair::whatever_is_damaged_the_rest_is_saved() {
  const Folder folder;
  const RepairsTried tried = try_repairs(folder.path(), 7, 12);
  QVERIFY2(tried.problem.empty(), tried.problem.c_str());
  QVERIFY(tried.repaired > 3 * tried.unreadable);
}

void TestRepair::the_ledger_says_what_is_missing() {
  const Folder folder;
  {
    RunStore store(folder.file());
    for (const char* name : {"one", "two"})
      store.add_finished(new_run(name), outcome(telemetry::RunStatus::finished));
  }
  change_behind(folder.file(), "DELETE FROM run WHERE id = 2; UPDATE run SET note = 'x'");
  const RepairReport report = repair(folder.file());
  QCOMPARE(report.runs, std::int64_t(1));
  QCOMPARE(report.lost, (std::vector<std::string>{"run 1: note", "run 2: missing; it was stored with 0 points"}));
  QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
}

/// Where tables begin is the same in all databases that have gone through the same.
void TestRepair::a_damaged_schema_is_that_of_a_new_database_data() {
  QTest::addColumn<QByteArray>("history");
  for (const char* history : {"", "VACUUM", "ANALYZE; VACUUM"})
    QTest::newRow(*history ? history : "as it was made") << QByteArray(history);
}
void TestRepair::a_damaged_schema_is_that_of_a_new_database() {
  QFETCH(QByteArray, history);
  const Folder folder;
  {
    RunStore store(folder.file());
    for (const char* name : {"one", "two"}) {
      auto writer = store.begin(new_run(name));
      for (std::int64_t step = 1; step <= 3000; ++step)
        writer->sink().record(record_at(step));
      writer->finish(outcome(telemetry::RunStatus::finished));
    }
  }
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec(history.toStdString());
  const std::string whole = bytes_in(folder.file());
  const std::string expected = all_read(folder.file());
  std::vector<std::int64_t> pages;
  {
    SQLite::Database database(folder.file().string());
    SQLite::Statement query(database, "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'");
    while (query.executeStep())
      pages.push_back(query.getColumn(0).getInt64());
  }
  QVERIFY(pages.size() > 1);
  std::mt19937 random(1);
  for (const std::int64_t page : pages) {
    std::string bytes = whole;
    for (std::int64_t at = (page - 1) * 4096; at < page * 4096; ++at)
      bytes[static_cast<std::size_t>(at)] = static_cast<char>(random());
    write_bytes_to(folder.file(), bytes);
    const RepairReport report = repair(folder.file());
    QCOMPARE(report.lost, std::vector<std::string>{"the schema; that of a new database took its place"});
    QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
    QVERIFY(all_read(folder.file()) == expected);
  }
  QCOMPARE(std::distance(std::filesystem::directory_iterator(folder.file().parent_path()), {}),
           static_cast<std::ptrdiff_t>(pages.size()) + 2); // the database, its ledger, a copy of each damaged one
}

void TestRepair::nothing_can_be_read() {
  const Folder folder;
  make_small_database(folder.file());
  std::string bytes = bytes_in(folder.file());
  std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size()) * 3 / 4, '\0');
  write_bytes_to(folder.file(), bytes);
  Error::Kind kind{};
  QCOMPARE(error_of([&] { repair(folder.file()); }, &kind),
           folder.file().string() + ": nothing in it can be read; restore a backup");
  QCOMPARE(kind, Error::Kind::failed);
  QVERIFY(bytes_in(folder.file()) == bytes);
  QCOMPARE(error_of([&] { repair(folder.file("none.db")); }, &kind),
           folder.file("none.db").string() + ": no such run database");
  QCOMPARE(kind, Error::Kind::input);
}

void TestRepair::a_full_disk_or_a_lock_changes_nothing() {
  const Folder folder;
  make_small_database(folder.file());
  change_behind(folder.file(), "UPDATE run SET note = 'x'");
  const std::string before = bytes_in(folder.file());
  const auto size = std::filesystem::file_size(folder.file());
  {
    SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    const std::string error = error_of([&] { repair(folder.file()); });
    QVERIFY2(error.starts_with(folder.file().string() + ": locked by another program"), error.c_str());
    QVERIFY(bytes_in(folder.file()) == before);
  }
  for (const auto limit : {size / 2, size + 1}) { // in the backup, and in the new file, which has a log first
    const FileSizeLimit full(limit);
    const std::string error = error_of([&] { repair(folder.file()); });
    QVERIFY2(error.find("free some space") != std::string::npos, error.c_str());
    QVERIFY(bytes_in(folder.file()) == before);
    QVERIFY(!std::filesystem::exists(folder.file("runs.db.repairing")));
    QVERIFY(!std::filesystem::exists(folder.file("runs.db.damaged")));
  }
}

BATCHSCOPE_TEST(TestRepair)
#include "tst_repair.moc"
