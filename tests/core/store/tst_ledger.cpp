#include <QTest>

#include <fstream>

#include <sys/stat.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"
#include "other_program.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

void add_run(const std::filesystem::path& file, const std::string& name, std::int64_t steps = 20) {
  RunStore store(file);
  auto run = store.begin(new_run(name));
  for (std::int64_t step = 1; step <= steps; ++step)
    run->sink().record(record_at(step));
  run->finish(outcome(telemetry::RunStatus::finished));
}

std::string what_to_do(const std::filesystem::path& file) {
  return ledger_of(file).string() + " lists what was stored; restore a backup, or accept the current runs as complete "
                                    "with `batchscope-cli check --accept`";
}

/// A database of three runs that was rolled back to the first.
void roll_back(const Folder& folder) {
  add_run(folder.file(), "first");
  std::filesystem::copy_file(folder.file(), folder.file("copy.db"));
  add_run(folder.file(), "second");
  add_run(folder.file(), "third", 30);
  std::filesystem::rename(folder.file("copy.db"), folder.file());
}

} // namespace

/// A database that lost runs is never called sound.
class TestLedger : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void names_the_runs_that_are_missing();
  void goes_on_naming_them_until_that_is_accepted();
  void names_missing_points();
  void purged_runs_are_not_missing();
  void another_database_has_a_ledger_of_its_own();
  void a_database_without_one_gets_one();
  void a_half_line_is_left_out();
  void a_link_in_its_place_is_not_followed();
  void stays_small();
};

void TestLedger::names_the_runs_that_are_missing() {
  const Folder folder;
  roll_back(folder);
  const RunReader reader(folder.file());
  const auto lines = reader.check();
  QCOMPARE(lines.size(), std::size_t(3));
  const auto has = [&](const std::string& line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
  QVERIFY(has("run 2: missing; it was stored with " + std::to_string(20 * series_of_a_record()) + " points"));
  QVERIFY(has("run 3: missing; it was stored with " + std::to_string(30 * series_of_a_record()) + " points"));
  QCOMPARE(lines.back(), what_to_do(folder.file()));
  QCOMPARE(reader.quick_check(), lines);
}

void TestLedger::goes_on_naming_them_until_that_is_accepted() {
  const Folder folder;
  roll_back(folder);
  add_run(folder.file(), "later");
  QCOMPARE(RunReader(folder.file()).check().size(), std::size_t(3));
  RunStore(folder.file()).accept_missing();
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  add_run(folder.file(), "latest");
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
}

void TestLedger::names_missing_points() {
  const Folder folder;
  std::int64_t stored = 0;
  {
    RunStore store(folder.file());
    auto run = store.begin(new_run("long"));
    run->sink().record(record_at(1));
    store.flush();
    SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::copy_file(folder.file(), folder.file("copy.db"));
    for (std::int64_t step = 2; step <= 50; ++step)
      run->sink().record(record_at(step));
    run->finish(outcome(telemetry::RunStatus::finished));
    stored = 50 * series_of_a_record();
  }
  std::filesystem::rename(folder.file("copy.db"), folder.file());
  const auto lines = RunReader(folder.file()).quick_check();
  QCOMPARE(lines.front(), "run 1: " + std::to_string(stored - series_of_a_record()) + " of " + std::to_string(stored) +
                              " stored points are missing");
}

void TestLedger::purged_runs_are_not_missing() {
  const Folder folder;
  add_run(folder.file(), "first");
  add_run(folder.file(), "second");
  {
    RunStore store(folder.file());
    store.set_deleted({1}, true);
    QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
    QCOMPARE(store.purge_deleted(), std::int64_t(1));
  }
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
}

void TestLedger::another_database_has_a_ledger_of_its_own() {
  const Folder folder;
  add_run(folder.file(), "first");
  std::filesystem::remove(folder.file());
  add_run(folder.file(), "of another");
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  QCOMPARE(RunReader(folder.file()).list().size(), std::size_t(1));
}

void TestLedger::a_database_without_one_gets_one() {
  const Folder folder;
  add_run(folder.file(), "first");
  QVERIFY(std::filesystem::remove(ledger_of(folder.file())));
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  std::filesystem::copy_file(folder.file(), folder.file("empty.db"));
  add_run(folder.file(), "second");
  std::filesystem::rename(folder.file("empty.db"), folder.file());
  QCOMPARE(RunReader(folder.file()).check().size(), std::size_t(2)); // the second run, and what to do
}

void TestLedger::a_half_line_is_left_out() {
  const Folder folder;
  add_run(folder.file(), "first");
  std::ofstream(ledger_of(folder.file()), std::ios::app) << "0123456789abcdef";
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
}

void TestLedger::a_link_in_its_place_is_not_followed() {
  const Folder folder;
  write_text(folder.file("precious"), "text\n");
  std::filesystem::create_symlink(folder.file("precious"), ledger_of(folder.file()));
  add_run(folder.file(), "first");
  RunStore(folder.file()).set_deleted({1}, true);
  RunStore(folder.file()).purge_deleted();
  QCOMPARE(text_of(folder.file("precious")), std::string("text\n"));
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
  std::filesystem::remove(ledger_of(folder.file()));
  QCOMPARE(::mkfifo(ledger_of(folder.file()).c_str(), 0600), 0); // would wait for a reader
  add_run(folder.file(), "second");
}

void TestLedger::stays_small() {
  const Folder folder;
  add_run(folder.file(), "first");
  const std::string uid = RunReader(folder.file()).run(1).uid;
  {
    std::ofstream ledger(ledger_of(folder.file()), std::ios::app);
    for (int i = 0; i < 20'000; ++i)
      ledger << uid << " 1 " << i % 100 << '\n';
  }
  add_run(folder.file(), "second");
  QVERIFY(std::filesystem::file_size(ledger_of(folder.file())) < 1000);
  QCOMPARE(text_of(RunReader(folder.file()).check()), std::string());
}

BATCHSCOPE_TEST(TestLedger)
#include "tst_ledger.moc"
