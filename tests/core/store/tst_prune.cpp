#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "damaged_files.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

void make_runs(RunStore& store, int count, std::int64_t steps) {
  for (int i = 0; i < count; ++i) {
    auto run = store.begin(new_run("run"));
    for (std::int64_t step = 1; step <= steps; ++step)
      run->sink().record(record_at(step));
    run->sink().event(event_of(steps, 1, "note", "{}", {{"extra", 1}}));
    run->finish(outcome(telemetry::RunStatus::finished));
  }
}

} // namespace

class TestPrune : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void removes_series_and_returns_space();
  void keeps_what_is_named();
  void points_of_an_interrupted_run();
  void open_runs_are_left_alone();
  void a_full_or_locked_file_stays_whole();
};

void TestPrune::removes_series_and_returns_space() {
  const Folder folder;
  {
    RunStore store(folder.file());
    make_runs(store, 3, 3000);
  }
  const auto before = std::filesystem::file_size(folder.file());
  RunStore store(folder.file());
  {
    const RunReader reader(folder.file());
    const auto prunable = reader.prunable({1, 2, 77}, {});
    QCOMPARE(prunable.runs, (std::vector<std::int64_t>{1, 2}));
    QCOMPARE(prunable.series, static_cast<std::int64_t>(2 * reader.series_names(1).size()));
    QVERIFY(prunable.bytes > before / 2 && prunable.bytes < before);
    QCOMPARE(store.prune(prunable.runs, {}), prunable.series);
    QVERIFY(reader.free_bytes() > prunable.bytes / 2);
    QCOMPARE(reader.series_names(1).size(), std::size_t(0));
    QCOMPARE(reader.events(1).size(), std::size_t(1));
    QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::finished);
    QCOMPARE(reader.series(3, "loss").size(), std::size_t(3000));
    QCOMPARE(reader.check(), std::vector<std::string>{}); // the ledger does not miss them either
    QCOMPARE(reader.prunable({1, 2}, {}).series, std::int64_t(0));
  }
  store.shrink();
  const RunReader reader(folder.file());
  QCOMPARE(reader.free_bytes(), std::uint64_t(0));
  QVERIFY(std::filesystem::file_size(folder.file()) < before / 2);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestPrune::keeps_what_is_named() {
  const Folder folder;
  RunStore store(folder.file());
  make_runs(store, 1, 3000);
  store.prune({1}, {"loss", "batch", "nothing"});
  const RunReader reader(folder.file());
  auto names = reader.series_names(1);
  std::sort(names.begin(), names.end());
  QCOMPARE(names, (std::vector<std::string>{"batch", "loss"}));
  const auto points = reader.series(1, "loss");
  QCOMPARE(points.size(), std::size_t(3000));
  for (const Point& point : points)
    QCOMPARE(point.value, record_at(point.step).loss);
  RunFollower follower(folder.file(), 1);
  const auto update = follower.poll(1000);
  QCOMPARE(update.records.at(999).batch, record_at(1000).batch);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

/// Of which the newest are not sealed.
void TestPrune::points_of_an_interrupted_run() {
  const Folder folder;
  make_small_database(folder.file());
  RunStore store(folder.file());
  const RunReader reader(folder.file());
  const auto run = reader.list("status = interrupted").at(0).id;
  QCOMPARE(reader.series(run, "loss").size(), std::size_t(50));
  store.prune({run}, {"loss", "peak_bytes"});
  QCOMPARE(reader.series_names(run).size(), std::size_t(2));
  for (const Point& point : reader.series(run, "loss"))
    QCOMPARE(point.value, record_at(point.step).loss);
  QCOMPARE(reader.series(run, "peak_bytes").at(6).value, static_cast<double>(record_at(7).peak_bytes));
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestPrune::open_runs_are_left_alone() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("open"));
  run->sink().record(record_at(1));
  store.flush();
  const RunReader reader(folder.file());
  QCOMPARE(reader.prunable({1}, {}).runs.size(), std::size_t(0));
  QCOMPARE(store.prune({1}, {}), std::int64_t(0));
  QCOMPARE(reader.series(1, "loss").size(), std::size_t(1));
  run->finish(outcome(telemetry::RunStatus::finished));
}

void TestPrune::a_full_or_locked_file_stays_whole() {
  const Folder folder;
  RunStore store(folder.file(), {.patience = std::chrono::milliseconds(50)});
  make_runs(store, 3, 3000);
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  for (const auto& change :
       {std::function<void()>([&] { store.prune({1}, {}); }), std::function<void()>([&] { store.shrink(); })}) {
    const std::string error = error_of(change);
    QVERIFY2(error.starts_with(folder.file().string() + ": locked by another program"), error.c_str());
  }
  other.exec("ROLLBACK");
  QCOMPARE(RunReader(folder.file()).series(1, "loss").size(), std::size_t(3000));
  store.prune({1}, {});
  {
    const FileSizeLimit full(50'000);
    const std::string error = error_of([&] { store.shrink(); });
    QVERIFY2(error.find("free some space") != std::string::npos, error.c_str());
  }
  QCOMPARE(RunReader(folder.file()).series(3, "loss").size(), std::size_t(3000));
  QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
  store.shrink();
}

BATCHSCOPE_TEST(TestPrune)
#include "tst_prune.moc"
