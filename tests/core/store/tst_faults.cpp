#include <QTest>

#include <atomic>
#include <mutex>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/database.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;
using std::chrono::milliseconds;

namespace {

const StoreOptions impatient{.interval = milliseconds(5), .patience = milliseconds(20), .max_waiting = 50};

std::string full(const Folder& folder) {
  return folder.file().string() +
         ": writing to the disk failed: quota exceeded, file too large or a disk error; free some space and try again";
}

} // namespace

/// The disk or another program refuses what is written while runs go on.
class TestFaults : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void errors_name_the_file_and_what_to_do();
  void a_disk_that_is_full_at_once();
  void a_disk_that_fills_up_loses_nothing();
  void finish_on_a_full_disk_is_tried_again();
  void a_locked_file_loses_nothing();
  void with_too_many_waiting_the_loop_waits();
  void a_loop_that_ends_does_not_wait();
  void what_is_wrong_is_told_while_it_lasts();
  void what_was_wrong_is_over_with_the_run();
  void a_store_that_closes_with_an_error_leaves_no_running_run();
  void a_file_that_was_being_made_is_an_empty_one();
};

// A disk without room is not to be had everywhere; SQLite's bound of a file's pages ends in the same error.
void TestFaults::errors_name_the_file_and_what_to_do() {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  database.exec("PRAGMA max_page_count = 2; CREATE TABLE t (x)");
  try {
    database.exec("INSERT INTO t VALUES (zeroblob(100000))");
    QFAIL("there should be no room");
  } catch (const SQLite::Exception& exception) {
    const Error error = store::detail::translated(exception, "runs.db");
    QCOMPARE(error.what(), "runs.db: the disk is full; free some space and try again");
    QCOMPARE(error.kind(), Error::Kind::failed);
  }
}

void TestFaults::a_disk_that_is_full_at_once() {
  const Folder folder;
  Error::Kind kind{};
  std::string error;
  {
    const FileSizeLimit limit(4096);
    error = error_of([&] { RunStore store(folder.file()); }, &kind);
  }
  QCOMPARE(error, full(folder));
  QCOMPARE(kind, Error::Kind::unavailable);
  RunStore store(folder.file()); // what was left behind is no obstacle
}

void TestFaults::a_disk_that_fills_up_loses_nothing() {
  const Folder folder;
  RunStore store(folder.file(), {.interval = milliseconds(5), .patience = milliseconds(20), .max_waiting = 1'000'000});
  auto run = store.begin(new_run("full"));
  std::int64_t step = 0;
  std::string error;
  {
    const FileSizeLimit limit(2'000'000);
    for (int round = 0; round < 40; ++round) {
      for (int i = 0; i < 1000; ++i)
        run->sink().record(record_at(++step));
      error = error_of([&] { store.flush(); });
    }
    QCOMPARE(error, full(folder));
    QVERIFY(store.backlog().waiting > 0);
    // What was stored until then can be read and is whole.
    const RunReader reader(folder.file());
    QVERIFY(!reader.series(run->id(), "loss").empty());
    QCOMPARE(reader.check(), std::vector<std::string>{});
  }
  store.flush();
  QCOMPARE(store.backlog().waiting, std::uint64_t(0));
  QCOMPARE(store.backlog().stored, static_cast<std::uint64_t>(step));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  const auto points = reader.series(run->id(), "grad_norm");
  QCOMPARE(points.size(), static_cast<std::size_t>(step));
  for (std::size_t i = 0; i < points.size(); ++i)
    QVERIFY(points[i].value == record_at(static_cast<std::int64_t>(i) + 1).grad_norm);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestFaults::finish_on_a_full_disk_is_tried_again() {
  const Folder folder;
  {
    RunStore store(folder.file(), impatient);
    auto run = store.begin(new_run("full"));
    Error::Kind kind{};
    {
      const FileSizeLimit limit(4096);
      run->sink().record(record_at(1));
      QCOMPARE(error_of([&] { run->finish(outcome(telemetry::RunStatus::finished)); }, &kind), full(folder));
      QCOMPARE(kind, Error::Kind::failed);
      QCOMPARE(error_of([&] { run->finish(outcome(telemetry::RunStatus::finished)); }), full(folder));
    }
    // There is room again; nobody asks any more, and closing stores it.
  }
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(reader.series(1, "loss").size(), std::size_t(1));
}

void TestFaults::a_locked_file_loses_nothing() {
  const Folder folder;
  RunStore store(folder.file(), impatient);
  auto run = store.begin(new_run("locked"));
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  for (std::int64_t step = 1; step <= 40; ++step) // fewer than may wait
    run->sink().record(record_at(step));
  Error::Kind kind{};
  const std::string locked =
      folder.file().string() + ": locked by another program; wait until it is done, or use another file";
  QCOMPARE(error_of([&] { store.flush(); }, &kind), locked);
  QCOMPARE(kind, Error::Kind::failed);
  QCOMPARE(error_of([&] { store.begin(new_run("another")); }), locked);
  other.exec("ROLLBACK");
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(RunReader(folder.file()).series(run->id(), "loss").size(), std::size_t(40));
}

void TestFaults::with_too_many_waiting_the_loop_waits() {
  const Folder folder;
  RunStore store(folder.file(), impatient);
  auto run = store.begin(new_run("still"));
  constexpr std::int64_t steps = 20'000; // more than the 50 that may wait
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  run->sink().record(record_at(1));
  QVERIFY(!error_of([&] { store.flush(); }).empty()); // from now on the queue is left alone
  std::atomic<std::int64_t> pushed{1};
  std::thread loop([&] {
    for (std::int64_t step = 2; step <= steps; ++step) {
      run->sink().record(record_at(step));
      pushed = step;
    }
  });
  while (store.backlog().waiting < 50)
    std::this_thread::yield();
  QVERIFY(pushed.load() < steps);
  other.exec("ROLLBACK");
  loop.join();
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(RunReader(folder.file()).series(run->id(), "loss").size(), static_cast<std::size_t>(steps));
}

void TestFaults::a_loop_that_ends_does_not_wait() {
  const Folder folder;
  RunStore store(folder.file(), impatient);
  std::atomic<bool> ending{false};
  NewRun given = new_run("ends");
  given.ending = [&] { return ending.load(); };
  auto run = store.begin(given);
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  run->sink().record(record_at(1));
  QVERIFY(!error_of([&] { store.flush(); }).empty());
  constexpr std::int64_t steps = 20'000;
  std::thread loop([&] {
    for (std::int64_t step = 2; step <= steps; ++step)
      run->sink().record(record_at(step));
  });
  while (store.backlog().waiting < 50)
    std::this_thread::yield();
  ending = true;
  loop.join(); // with the file still locked
  other.exec("ROLLBACK");
  run->finish(outcome(telemetry::RunStatus::stopped));
  QCOMPARE(RunReader(folder.file()).series(run->id(), "loss").size(), static_cast<std::size_t>(steps));
}

void TestFaults::what_is_wrong_is_told_while_it_lasts() {
  const Folder folder;
  std::mutex mutex;
  std::vector<std::string> told;
  NewRun given = new_run("told");
  given.on_trouble = [&](const std::string& why) {
    const std::lock_guard lock(mutex);
    told.push_back(why);
  };
  const auto heard = [&] {
    const std::lock_guard lock(mutex);
    return told;
  };
  RunStore store(folder.file(), impatient);
  auto run = store.begin(given);
  run->sink().record(record_at(1));
  store.flush();
  QCOMPARE(store.backlog().error, std::string());
  QVERIFY(heard().empty());
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  run->sink().record(record_at(2));
  const std::string locked =
      folder.file().string() + ": locked by another program; wait until it is done, or use another file";
  for (int attempt = 0; attempt < 3; ++attempt)
    QVERIFY_EXCEPTION_THROWN(store.flush(), TransientError);
  QCOMPARE(store.backlog().error, locked);
  QCOMPARE(heard(), std::vector<std::string>{locked}); // once
  other.exec("ROLLBACK");
  store.flush();
  QCOMPARE(store.backlog().error, std::string());
  QCOMPARE(heard(), (std::vector<std::string>{locked, ""}));
  run->finish(outcome(telemetry::RunStatus::finished));
}

void TestFaults::what_was_wrong_is_over_with_the_run() {
  const Folder folder;
  std::vector<std::string> told; // by the store's thread, while this one waits for it
  NewRun given = new_run("told");
  given.on_trouble = [&](const std::string& why) { told.push_back(why); };
  StoreOptions on_demand = impatient;
  on_demand.interval = std::chrono::hours(1);
  RunStore store(folder.file(), on_demand);
  auto run = store.begin(given);
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  run->sink().record(record_at(1));
  QVERIFY_EXCEPTION_THROWN(store.flush(), TransientError);
  other.exec("ROLLBACK");
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(told.size(), std::size_t(2));
  QVERIFY(!told.front().empty() && told.back().empty());
}

void TestFaults::a_store_that_closes_with_an_error_leaves_no_running_run() {
  const Folder folder;
  { RunStore make(folder.file()); }
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  {
    RunStore store(folder.file(), impatient);
    auto run = store.begin(new_run("left"));
    other.exec("BEGIN IMMEDIATE");
    run->sink().record(record_at(1));
    run.reset();
  }
  other.exec("ROLLBACK");
  QCOMPARE(RunReader(folder.file()).run(1).outcome.status, telemetry::RunStatus::interrupted);
  const RunStore next(folder.file());
  QCOMPARE(other.execAndGet("SELECT status FROM run").getString(), std::string("interrupted"));
  QCOMPARE(other.execAndGet("SELECT count(*) FROM process").getInt(), 1);
}

// As a program leaves the file that is killed while it makes it: pages of the first transaction are written, and the
// journal that takes them back is beside it.
void TestFaults::a_file_that_was_being_made_is_an_empty_one() {
  const Folder folder;
  const auto journal = folder.file("runs.db-journal");
  {
    SQLite::Database database(folder.file("making.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; CREATE TABLE filler (text)");
    for (int i = 0; i < 200; ++i)
      database.exec("INSERT INTO filler VALUES (hex(randomblob(1000)))");
    std::filesystem::copy_file(folder.file("making.db"), folder.file());
    std::filesystem::copy_file(folder.file("making.db-journal"), journal);
    database.exec("ROLLBACK");
  }
  QVERIFY(std::filesystem::file_size(folder.file()) > 0);
  QCOMPARE(error_of([&] { const RunReader reader(folder.file()); }),
           folder.file().string() + ": empty; no run was stored in it yet");
  RunStore(folder.file()).begin(new_run("first"))->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(RunReader(folder.file()).list().size(), std::size_t(1));
}

BATCHSCOPE_TEST(TestFaults)
#include "tst_faults.moc"
