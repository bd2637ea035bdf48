#include <algorithm>
#include <cmath>

#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/json.h"
#include "core/exchange/import.h"
#include "core/store/run_reader.h"
#include "test_program.h"
#include "tests/core/exchange/import_test.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using namespace batchscope::exchange::test;
using batchscope::store::test::Folder;

namespace {

std::filesystem::path trackio_database(const Folder& folder, const std::string& sql) {
  std::filesystem::create_directories(folder.file("trackio"));
  const auto file = folder.file("trackio") / "digits.db";
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(sql);
  return file;
}

std::string trackio_tables() {
  return store::test::text_of(real_file("trackio/trackio.sql"));
}

} // namespace

class TestImportTrackio : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void runsOfAProject() {
    const Folder folder;
    const auto file = trackio_database(folder, trackio_tables());
    QCOMPARE(import_into(folder, file).imported, (std::vector<std::int64_t>{1, 2}));
    const store::RunReader reader(folder.file());
    QVERIFY(reader.run(1).name == "steady" && reader.run(2).name == "steady"); // told apart by their ids
    const auto losses = reader.series(1, "loss");
    QCOMPARE(losses.size(), std::size_t{20});
    for (std::size_t i = 0; i < losses.size(); ++i)
      QVERIFY(losses[i].step == static_cast<std::int64_t>(i) && losses[i].value == 1.0 / static_cast<double>(i + 1));
    QCOMPARE(reader.series(2, "loss")[0].value, 2.0);
    QVERIFY(std::abs(reader.series(1, "seconds")[5].value - 1.25) < 1e-6);
    QVERIFY(std::isnan(reader.series(1, "odd").front().value));
    const auto names = reader.series_names(1);
    QVERIFY(std::find(names.begin(), names.end(), "table") == names.end());
    const auto use = reader.series(1, "system/gpu/0/utilization");
    QVERIFY(use.size() == 2 && use[0].step == 2 && use[0].value == 90.6 && use[1].step == 19);
    const store::RunRow run = reader.run(1);
    QVERIFY(run.outcome.steps == 19 && run.outcome.batch == 16 && *run.outcome.validation_accuracy == 0.75);
    QCOMPARE(run.started, std::string("2023-11-14T22:13:20Z"));
    const Json settings = parse_json(reader.spec_json(1));
    QVERIFY(settings["project"] == "digits" && settings["group"] == "night" && settings["model.depth"] == 3);
    QVERIFY(!settings.contains("_Username"));
    // The folder of all projects has the same runs.
    QCOMPARE(import_into(folder, file.parent_path()).known, (std::vector<std::int64_t>{1, 2}));
    QCOMPARE(reader.check(), std::vector<std::string>{});
  }

  void aRunThatGrows() {
    const Folder folder;
    const auto file = trackio_database(folder, trackio_tables());
    import_into(folder, file);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES "
              "('id-1', '2023-11-14T22:13:50', 'steady', 20, '{\"train/loss\": 0.5}')");
    QCOMPARE(import_into(folder, file).extended, std::vector<std::int64_t>{1});
    const auto seconds = store::RunReader(folder.file()).series(1, "seconds");
    QVERIFY(seconds.back().step == 20 && seconds.back().value == 30);
  }

  /// Earlier versions knew runs by their names, the first ones by project and name.
  void earlierVersions() {
    const Folder folder;
    const auto file = trackio_database(
        folder, "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, project_name TEXT, run_name TEXT, "
                "step INTEGER, metrics TEXT);"
                "INSERT INTO metrics (timestamp, project_name, run_name, step, metrics) VALUES "
                "('2023-11-14T22:13:20', 'p', 'a', 0, '{\"loss\": 1}'), ('2023-11-14T22:13:20', 'q', 'a', 0, "
                "'{\"loss\": 2}'), ('2023-11-14T22:13:21', 'p', 'a', 1, '{\"loss\": 3}')");
    const auto read = read_runs_of(file);
    QCOMPARE(read.runs.size(), std::size_t{2});
    QVERIFY(points_of(read.runs[0], "loss").size() == 2 && points_of(read.runs[1], "loss")[0].value == 2);
    QVERIFY(parse_json(read.runs[1].spec_json)["project"] == "q");
  }

  void damagedRowsAreLeftOut() {
    const Folder folder;
    const auto file = trackio_database(folder, trackio_tables());
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES "
              "('id-1', 'late', 'steady', 20, '{\"loss\": '), ('id-1', 'late', 'steady', 21, '[1]'); "
              "UPDATE configs SET config = '{'");
    const auto read = read_runs_of(file);
    QCOMPARE(points_of(read.runs[0], "loss").size(), std::size_t{20});
    QCOMPARE(read.remarks,
             std::vector<std::string>{file.string() + ": rows of metrics that are damaged were left out: 2"});
  }

  void otherDatabasesAreNot() {
    const Folder folder;
    const auto file = trackio_database(folder, "CREATE TABLE metrics (x)");
    QVERIFY2(refusal(file).contains("accepted: mlflow.db, a database of trackio"), refusal(file).constData());
  }
};

BATCHSCOPE_TEST(TestImportTrackio)
#include "tst_import_trackio.moc"
