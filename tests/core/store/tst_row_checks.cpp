#include <QTest>

#include <algorithm>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/row_checks.h"
#include "core/store/run_reader.h"
#include "core/store/sweep_queue.h"
#include "other_program.h"
#include "store_test.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

/// Something in every table.
void fill(RunStore& store) {
  const std::int64_t sweep = store.add_sweep(R"({"vary": []})");
  store.add_search("{}", R"({"largest": 8})");
  store.save_view("view", "{}");
  NewRun part = new_run("part");
  part.sweep = sweep;
  part.batch = 16;
  auto run = store.begin(part);
  store.send(run->id(), {.verb = "pause"});
  for (std::int64_t step = 1; step <= 20; ++step)
    run->sink().record(record_at(step));
  run->sink().event(event_of(20, 1, "note", R"({"text": "here"})"));
  run->finish(outcome(telemetry::RunStatus::finished));
}

std::string damage_in(const std::filesystem::path& file) {
  return text_of(RunReader(file).check());
}

} // namespace

/// Checksums of everything that is not a point of a series.
class TestRowChecks : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void all_that_writes_keeps_them();
  void a_process_that_is_killed_leaves_them_whole();
  void each_column_is_found();
  void rows_without_them_are_found();
  void damage_is_found_after_a_change_of_something_else();
  void a_migration_keeps_those_that_are_there();
};

void TestRowChecks::all_that_writes_keeps_them() {
  const Folder folder;
  {
    RunStore store(folder.file());
    fill(store);
    store.rename(1, "renamed");
    store.set_note(1, "noted");
    store.set_deleted({1}, true);
    store.set_deleted({1}, false);
    SweepQueue queue(store, 1);
    queue.add({{.name = "a", .spec_json = R"({"lr": 1})"}, {.name = "b", .spec_json = R"({"lr": 2})"}});
    queue.move(3, 2);
    const auto claim = queue.claim([](const WaitingRun&, const SweepQueue::Load&) { return 5; });
    QVERIFY(claim.run);
    NewRun claimed = new_run("claimed");
    claimed.claimed = claim.run->id;
    auto open = store.begin(claimed);
    open->sink().record(record_at(1));
    store.flush();
    QCOMPARE(damage_in(folder.file()), std::string()); // of a run that is open
    open->finish(outcome(telemetry::RunStatus::stopped));
    queue.skip({2}, "not needed");
  }
  QCOMPARE(damage_in(folder.file()), std::string()); // and after the process has left
}

void TestRowChecks::a_process_that_is_killed_leaves_them_whole() {
  const Folder folder;
  {
    SecondProcess other(write_arguments(folder.file(), 1000, 200, folder.file("report")));
    QTRY_VERIFY(reported(folder.file("report")).size() > 2);
    other.kill();
    QCOMPARE(other.wait(), 128 + SIGKILL);
  }
  QCOMPARE(damage_in(folder.file()), std::string());
  RunStore{folder.file()}; // marks what was interrupted
  QCOMPARE(damage_in(folder.file()), std::string());
}

void TestRowChecks::each_column_is_found() {
  const Folder folder;
  RunStore store(folder.file());
  fill(store);
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = OFF");
  const auto tables = store::detail::checked_tables(database);
  QCOMPARE(tables.size(), std::size_t(9));
  for (const auto& table : tables)
    for (const std::string& column : table.columns) {
      SQLite::Transaction undone(database);
      const std::string change = "UPDATE " + table.name + " SET " + column + " = coalesce(" + column;
      try {
        database.exec(change + ", '') || 'x' WHERE rowid = 1");
      } catch (const SQLite::Exception&) { // a column of integers
        database.exec(change + ", 0) + 100 WHERE rowid = 1");
      }
      const auto damaged = store::detail::damaged_rows(database, table);
      QCOMPARE(damaged.size(), std::size_t(1));
      QCOMPARE(damaged.front().row, std::int64_t(1));
      QCOMPARE(damaged.front().columns, std::vector<std::string>{column});
    }
  database.exec("UPDATE run SET name = 'x', note = 'y'; UPDATE event SET kind = 'oom'");
  QCOMPARE(damage_in(folder.file()),
           std::string("table event: row 1: kind damaged (checksum)\nrun 1: name, note damaged (checksum)\n"));
}

void TestRowChecks::rows_without_them_are_found() {
  const Folder folder;
  RunStore store(folder.file());
  fill(store);
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
  database.exec("INSERT INTO event (run, step, kind, detail) VALUES (1, 1, 'false', '{}')");
  database.exec("UPDATE run SET checks = x'00'");
  QCOMPARE(damage_in(folder.file()),
           std::string("table event: row 2: its checksums are missing\nrun 1: its checksums are missing\n"));
}

void TestRowChecks::damage_is_found_after_a_change_of_something_else() {
  const Folder folder;
  RunStore store(folder.file());
  fill(store);
  // No triggers: as a disk would damage it.
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE)
      .exec(R"(UPDATE run SET start = '{"x": 1}', batch = 17)");
  store.add_tags({1}, {"best"});
  store.rename(1, "renamed");
  store.set_note(1, "noted");
  store.set_deleted({1}, true);
  store.set_deleted({1}, false);
  QCOMPARE(damage_in(folder.file()), std::string("run 1: start, batch damaged (checksum)\n"));
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec("UPDATE run SET checks = x'00'");
  store.rename(1, "again");
  QCOMPARE(damage_in(folder.file()), std::string("run 1: its checksums are missing\n"));
}

/// Damage from before a migration is not taken for what was stored.
void TestRowChecks::a_migration_keeps_those_that_are_there() {
  const Folder folder;
  RunStore store(folder.file());
  fill(store);
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
  database.exec("UPDATE run SET name = 'other'; ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'");
  store::detail::add_missing_checks(database);
  for (const auto& table : store::detail::checked_tables(database)) {
    const auto damaged = store::detail::damaged_rows(database, table);
    QCOMPARE(damaged.size(), std::size_t(table.name == "run" ? 1 : 0));
    if (table.name == "run")
      QCOMPARE(damaged.front().columns, std::vector<std::string>{"name"});
  }
  database.exec("UPDATE run SET name = 'part', colour = 'blue'");
  for (const auto& table : store::detail::checked_tables(database))
    for (const auto& row : store::detail::damaged_rows(database, table))
      QCOMPARE(row.columns, std::vector<std::string>{"colour"});
}

BATCHSCOPE_TEST(TestRowChecks, run_as_other_program)
#include "tst_row_checks.moc"
