#include "core/exchange/followed_files.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <fstream>

#include <QTest>

#include "core/exchange/detail/event_file.h"
#include "core/store/run_follower.h"
#include "core/telemetry/outcome_fields.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using store::test::Folder;
using telemetry::RunStatus;

namespace {

/// The file as its program writes it: its first bytes, and then more of them.
void write_start(const std::filesystem::path& file, const std::string& whole, std::size_t bytes) {
  std::ofstream(file, std::ios::binary) << whole.substr(0, bytes);
}

std::string event_file(const Folder& folder) {
  const auto file = folder.file("whole");
  std::ofstream out(file, std::ios::binary);
  detail::EventWriter writer(out, 100);
  for (std::int64_t step = 1; step <= 12; ++step)
    for (const char* tag : {"train/loss", "val/loss"})
      writer.write({.wall_time = 100 + static_cast<double>(step), .step = step, .tag = tag, .value = 1. / step});
  out.close();
  return store::test::text_of(file);
}

std::string table() {
  std::string text = "step,train_loss,lr\n";
  for (int step = 1; step <= 12; ++step)
    text += std::to_string(step) + "," + std::to_string(1. / step) + (step % 3 == 0 ? ",0.1\n" : ",\n");
  return text;
}

std::string metric_lines() {
  std::string text;
  for (int step = 1; step <= 12; ++step)
    text += std::to_string(1000 * step) + " " + std::to_string(1. / step) + " " + std::to_string(step) + "\n";
  return text;
}

} // namespace

class TestFollowedFiles : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void cutAnywhere_data();
  void cutAnywhere();
  void runningWhileFollowed();
  void statesThatSayWhenTheyEnd();
  void whatIsRefused();
};

void TestFollowedFiles::cutAnywhere_data() {
  QTest::addColumn<QString>("format");
  QTest::newRow("event file") << "tensorboard";
  QTest::newRow("table") << "csv";
  QTest::newRow("mlruns") << "mlflow";
}

/// However much of the file is there at each look, in the middle of a record too: the run only grows, and becomes what
/// an import of the whole file gives.
void TestFollowedFiles::cutAnywhere() {
  QFETCH(QString, format);
  const Folder folder;
  std::filesystem::path followed = folder.file("run.csv");
  std::filesystem::path written = followed;
  std::string whole = table();
  if (format == "tensorboard") {
    whole = event_file(folder);
    followed = written = folder.file("events.out.tfevents.100.host");
  } else if (format == "mlflow") {
    whole = metric_lines();
    followed = folder.file("run");
    written = folder.file("run") / "metrics/loss";
    std::filesystem::create_directories(written.parent_path());
    std::ofstream(followed / "meta.yaml") << "run_id: abc\nstart_time: 1000\nstatus: 1\n";
  }
  write_start(written, whole, 0);
  FollowedFiles files({followed}, {});
  std::int64_t steps = 0;
  {
    store::RunStore store(folder.file());
    for (std::size_t bytes = 0; bytes <= whole.size(); bytes += 7) {
      write_start(written, whole, bytes);
      store_runs(files.read_changed(), store);
      const auto runs = store::RunReader(folder.file()).list();
      QVERIFY(runs.size() <= 1);
      if (runs.empty())
        continue;
      QVERIFY(runs.front().outcome.steps >= steps && runs.front().outcome.status == RunStatus::running);
      steps = runs.front().outcome.steps;
    }
    write_start(written, whole, whole.size());
    store_runs(files.read_changed(), store);
    store_runs(files.read_last(), store);
  }
  const Folder other;
  {
    store::RunStore store(other.file());
    store_runs(read_runs_of(followed), store);
  }
  const store::RunReader reader(folder.file());
  const store::RunReader expected(other.file());
  QCOMPARE(reader.list().size(), std::size_t{1});
  QCOMPARE(telemetry::to_json(reader.run(1).outcome).dump(), telemetry::to_json(expected.run(1).outcome).dump());
  QCOMPARE(reader.run(1).outcome.steps, std::int64_t{12});
  for (const std::string& name : expected.series_names(1)) {
    const auto points = reader.series(1, name);
    const auto right = expected.series(1, name);
    QCOMPARE(points.size(), right.size());
    for (std::size_t i = 0; i < right.size(); ++i)
      QVERIFY(points[i].step == right[i].step && points[i].value == right[i].value);
  }
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

/// Whoever watches the run sees each step once, with all that is known of it; when the program that follows is gone,
/// the run is interrupted, and the next import goes on with it.
void TestFollowedFiles::runningWhileFollowed() {
  const Folder folder;
  const auto file = folder.file("run.csv");
  std::ofstream(file) << "step,train_loss,lr\n1,0.5,0.1\n";
  FollowedFiles files({file}, {});
  auto store = std::make_unique<store::RunStore>(folder.file());
  store_runs(files.read_changed(), *store);
  QVERIFY(files.read_changed().runs.empty()); // nothing is new
  store::RunFollower follower(folder.file(), 1);
  auto update = follower.poll();
  QCOMPARE(update.row.outcome.status, RunStatus::running);
  QCOMPARE(update.records.size(), std::size_t{1});
  QVERIFY(update.records[0].loss == 0.5 && update.records[0].learning_rate == 0.1);
  std::ofstream(file, std::ios::app) << "2,0.25,\n3,0.125,0.01\n4,";
  store_runs(files.read_changed(), *store);
  update = follower.poll();
  QCOMPARE(update.records.size(), std::size_t{2});
  QVERIFY(update.records[0].step == 2 && std::isnan(update.records[0].learning_rate));
  QVERIFY(update.records[1].step == 3 && update.records[1].loss == 0.125 && update.records[1].learning_rate == 0.01);
  store.reset();
  QCOMPARE(store::RunReader(folder.file()).run(1).outcome.status, RunStatus::interrupted);
  store = std::make_unique<store::RunStore>(folder.file());
  store_runs(files.read_last(), *store);
  QCOMPARE(follower.poll().row.outcome.status, RunStatus::finished);
  QCOMPARE(store::RunReader(folder.file()).check(), std::vector<std::string>{});
}

void TestFollowedFiles::statesThatSayWhenTheyEnd() {
  const Folder folder;
  const auto file = folder.file("trainer_state.json");
  const std::string before = R"({"global_step": 1, "max_steps": 2, "log_history": [{"loss": 0.5, "step": 1}]})";
  const std::string after =
      R"({"global_step": 2, "max_steps": 2, "log_history": [{"loss": 0.5, "step": 1}, {"loss": 0.25, "step": 2}]})";
  std::ofstream(file) << before;
  FollowedFiles files({file}, {});
  store::RunStore store(folder.file());
  const store::RunReader reader(folder.file());
  store_runs(files.read_changed(), store);
  QCOMPARE(reader.run(1).outcome.status, RunStatus::running);
  write_start(file, after, 100); // it is written anew, and not whole yet
  QVERIFY(files.read_changed().runs.empty());
  write_start(file, after, after.size());
  store_runs(files.read_changed(), store);
  QCOMPARE(reader.run(1).outcome.status, RunStatus::finished);
  QCOMPARE(reader.run(1).outcome.steps, std::int64_t{2});
}

void TestFollowedFiles::whatIsRefused() {
  const Folder folder;
  QVERIFY_EXCEPTION_THROWN(FollowedFiles({folder.file("missing.csv")}, {}), Error);
  std::ofstream(folder.file("a.csv")) << "count,x\n1,2\n2,3\n";
  FollowedFiles files({folder.file("a.csv")}, {});
  const auto look = [&] { return store::test::error_of([&] { files.read_changed(); }); };
  QVERIFY(QString::fromStdString(look()).contains("no column counts the steps"));
  QVERIFY(!look().empty()); // not forgotten
  std::ofstream(folder.file("a.csv")) << "step,x\n1,2\n2\n3,4\n";
  const ImportedRuns damaged = files.read_changed();
  QVERIFY(damaged.runs.size() == 1 && damaged.remarks.size() == 1);
  QVERIFY(QString::fromStdString(damaged.remarks[0]).contains("line 3"));
  std::ofstream(folder.file("a.csv")) << "step,x\n1,2\n";
  QCOMPARE(files.read_changed().runs.size(), std::size_t{1});
}

BATCHSCOPE_TEST(TestFollowedFiles)
#include "tst_followed_files.moc"
