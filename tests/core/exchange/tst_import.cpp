#include "core/exchange/import.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/json.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/export.h"
#include "core/telemetry/outcome_fields.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/exchange/import_test.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::exchange;
using namespace batchscope::exchange::test;
using batchscope::store::test::Folder;
using batchscope::store::test::same;

namespace {

std::string json_of(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::ostringstream out;
  make_exporter("json")->write(reader, ids, out);
  return out.str();
}

/// The tool's database, from its text.
std::filesystem::path mlflow_database(const Folder& folder) {
  SQLite::Database database(folder.file("mlflow.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(store::test::text_of(real_file("mlflow/mlflow.sql")));
  return folder.file("mlflow.db");
}

/// The twenty losses 1, 1/2, 1/3, ... from step `first` on.
void verify_losses(const store::RunReader& reader, std::int64_t id, std::int64_t first, double tolerance) {
  const auto points = reader.series(id, "loss");
  QCOMPARE(points.size(), std::size_t{20});
  for (std::size_t i = 0; i < points.size(); ++i) {
    QCOMPARE(points[i].step, static_cast<std::int64_t>(i) + first);
    QVERIFY(std::abs(points[i].value - 1.0 / static_cast<double>(i + 1)) <= tolerance);
  }
}

} // namespace

class TestImport : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void ownJsonComesBackWhole();
  void severalFilesKeepTheirSweeps();
  void tensorboardFiles();
  void ownTensorboardFolders();
  void lightningTables();
  void trainerStates();
  void trainersThatStopEarly();
  void stepsThatAreNone_data();
  void stepsThatAreNone();
  void whatIsNoFile();
  void foldersOfLogs();
  void mlflow_data();
  void mlflow();
  void partsOfAnMlflowFolder();
  void mlflowTags_data();
  void mlflowTags();
  void grownFiles_data();
  void grownFiles();
  void anOlderCopyChangesNothing();
  void equalNamesAreOtherRuns();
  void tablesWithOtherNames();
  void tablesWithBlanksAndTexts();
  void tablesWithSeveralHeaders();
  void tablesWithColumnsThatCameLater();
  void tablesOfEpochs();
  void tablesWithSemicolons();
  void damagedLinesOfTables();
  void ownTables();
  void refused();
  void damagedJsonIsRefused();
};

void TestImport::ownJsonComesBackWhole() {
  const Folder first;
  {
    store::RunStore store(first.file());
    const std::int64_t sweep = store.add_sweep(R"({"batch": [1, 2]})");
    for (const char* name : {"one", "two \"quoted\" ü"}) {
      store::NewRun run = store::test::new_run(name);
      run.sweep = sweep;
      run.start_json = R"({"batch":4})";
      run.environment_json = R"({"libtorch":"2.15.0"})";
      auto writer = store.begin(run);
      for (std::int64_t step = 1; step <= 3000; ++step) {
        auto record = store::test::record_at(step);
        record.more = {{"f1", step % 7 == 0 ? store::test::not_a_number : 0.5}};
        writer->sink().record(record);
      }
      writer->sink().event(
          event_of(3000, 3, "evaluation", R"({"loss":0.5})", {{"validation_loss", store::test::infinity}}));
      // What a program prints several times a step, or late.
      for (const std::int64_t step : {3000, 3000, 2000, 3000})
        writer->sink().event(event_of(step, 3, "", "{}", {{"f2", 0.25}}));
      auto outcome = store::test::outcome(telemetry::RunStatus::finished);
      outcome.loss = store::test::not_a_number;
      outcome.validation_loss = store::test::infinity;
      outcome.batch = 4;
      writer->finish(outcome);
    }
    store.set_note(2, "a note\nof two lines");
    store.add_tags({1}, {"best", "to publish"});
  }
  const Folder target;
  const auto file = target.file("runs.json");
  export_to_file(store::RunReader(first.file()), {1, 2}, "json", file, false);
  const Folder second;
  const auto result = import_into(second, file);
  QCOMPARE(result.imported, (std::vector<std::int64_t>{1, 2}));
  const store::RunReader reader(second.file());
  QCOMPARE(QString::fromStdString(json_of(reader, {1, 2})),
           QString::fromStdString(json_of(store::RunReader(first.file()), {1, 2})));
  QCOMPARE(reader.check(), std::vector<std::string>{});
  // Once more adds nothing, not even a sweep, and not what was deleted.
  store::RunStore(second.file()).set_deleted({1}, true);
  const auto again = import_into(second, file);
  QVERIFY(again.imported.empty());
  QCOMPARE(again.known, (std::vector<std::int64_t>{1, 2}));
  QCOMPARE(reader.list().size(), std::size_t{1});
  QVERIFY_EXCEPTION_THROWN(reader.sweep_json(2), Error);
}

void TestImport::severalFilesKeepTheirSweeps() {
  const Folder folder;
  ImportedRuns read;
  for (const char* name : {"first", "second"}) {
    const Folder database;
    store::RunStore store(database.file());
    store::NewRun run = store::test::new_run(name);
    run.sweep = store.add_sweep(std::string(R"({"name":")") + name + "\"}");
    store.add_finished(run, store::test::outcome(telemetry::RunStatus::finished));
    export_to_file(store::RunReader(database.file()), {1}, "json", folder.file(name), false);
    read.add(read_runs_of(folder.file(name)));
  }
  store::RunStore store(folder.file());
  QCOMPARE(store_runs(read, store).imported, (std::vector<std::int64_t>{1, 2}));
  QCOMPARE(store_runs(read, store).known, (std::vector<std::int64_t>{1, 2}));
  const store::RunReader reader(folder.file());
  for (const auto& row : reader.list()) {
    QCOMPARE(*row.sweep, row.id);
    QVERIFY(reader.sweep_json(*row.sweep).find(row.name) != std::string::npos);
  }
  QVERIFY_EXCEPTION_THROWN(reader.sweep_json(3), Error); // none was stored again
}

void TestImport::tensorboardFiles() {
  const Folder folder;
  const auto result = import_into(folder, real_file("tensorboard"));
  QCOMPARE(result.imported.size(), std::size_t{1});
  const store::RunReader reader(folder.file());
  verify_losses(reader, 1, 0, 1e-7); // 32-bit floats
  QCOMPARE(reader.series(1, "validation_accuracy").front().value, 0.75);
  QVERIFY(std::isnan(reader.series(1, "other").front().value));
  QCOMPARE(reader.series(1, "as_tensor").front().value, 2.5);
  const store::RunRow run = reader.run(1);
  QVERIFY(run.started.starts_with("20") && run.outcome.steps == 19);
  QCOMPARE(*run.outcome.validation_accuracy, 0.75);
  QVERIFY(reader.spec_json(1).find(R"("imported_from":"tensorboard")") != std::string::npos);
  QCOMPARE(import_into(folder, real_file("tensorboard")).known, std::vector<std::int64_t>{1});
  // The one file of the folder is the same run.
  const auto file = std::filesystem::directory_iterator(real_file("tensorboard"))->path();
  QCOMPARE(import_into(folder, file).known, std::vector<std::int64_t>{1});
}

/// What is exported for TensorBoard comes back with equal values, as far as its 32-bit floats hold them.
void TestImport::ownTensorboardFolders() {
  const Folder first;
  {
    store::RunStore store(first.file());
    for (const char* name : {"a", "b"}) {
      auto run = store.begin(store::test::new_run(name));
      for (std::int64_t step = 1; step <= 50; ++step)
        run->sink().record(store::test::record_at(step));
      run->finish(store::test::outcome(telemetry::RunStatus::finished));
    }
  }
  const store::RunReader before(first.file());
  export_to_file(before, {1, 2}, "tensorboard", first.file("tb"), false);
  const Folder second;
  QCOMPARE(import_into(second, first.file("tb")).imported.size(), std::size_t{2});
  const store::RunReader after(second.file());
  for (const char* series : {"loss", "batch", "grad_norm", "train_coverage", "peak_bytes"}) {
    const auto points = after.series(1, series);
    const auto expected = before.series(1, series);
    QCOMPARE(points.size(), expected.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      QVERIFY(points[i].step == expected[i].step && same(points[i].value, static_cast<float>(expected[i].value)));
  }
}

void TestImport::lightningTables() {
  const Folder folder;
  QCOMPARE(import_into(folder, real_file("lightning/version_0/metrics.csv")).imported.size(), std::size_t{1});
  const store::RunReader reader(folder.file());
  verify_losses(reader, 1, 0, 0);
  const store::RunRow run = reader.run(1);
  QCOMPARE(run.name, std::string("version_0"));
  QCOMPARE(*run.outcome.validation_loss, 0.5);
  QCOMPARE(*run.outcome.validation_accuracy, 0.75);
  QCOMPARE(reader.series(1, "validation_loss").size(), std::size_t{1}); // its other cells are empty
}

void TestImport::trainerStates() {
  const Folder folder;
  QCOMPARE(import_into(folder, real_file("transformers/checkpoint-20/trainer_state.json")).imported.size(),
           std::size_t{1});
  const store::RunReader reader(folder.file());
  verify_losses(reader, 1, 1, 0);
  QCOMPARE(*reader.run(1).outcome.validation_accuracy, 0.75);
  QCOMPARE(reader.run(1).name, std::string("transformers"));   // the run's folder, of which this is a checkpoint
  QCOMPARE(reader.series(1, "train_loss").front().value, 0.2); // the mean of all, no loss of a step
  QVERIFY(std::isnan(reader.series(1, "grad_norm")[2].value)); // a bare NaN, as Python writes it
  QVERIFY(reader.spec_json(1).find(R"("batch":8)") != std::string::npos);
}

void TestImport::trainersThatStopEarly() {
  const Folder folder;
  const ImportedRuns read = read_runs_of(real_file("early_stopping"));
  const store::CompleteRun& run = read.runs.at(0);
  QCOMPARE(run.outcome.status, telemetry::RunStatus::finished); // at step 30 of 100
  QCOMPARE(run.outcome.reason, std::string("stopped early: no better score in 2 evaluations"));
  const Json settings = parse_json(run.spec_json);
  QVERIFY(settings["early_stopping_patience"] == 2 && settings["best_global_step"] == 10 &&
          settings["best_metric"] == 0.5);
  // The mean of the run is no loss of its last step.
  QVERIFY(!run.outcome.loss);
  QCOMPARE(points_of(run, "train_loss").front().value, 1.5);
  QCOMPARE(read.remarks.size(), std::size_t{1});
  QVERIFY(read.remarks[0].ends_with("has no losses of steps; train_loss is the mean of the whole run"));
  // Of a checkpoint before the end, whose callback still waits.
  std::string text = store::test::text_of(real_file("early_stopping/trainer_state.json"));
  const std::string counter = "\"early_stopping_patience_counter\": ";
  const std::size_t at = text.find(counter) + counter.size();
  QCOMPARE(text[at], '2');
  text[at] = '1';
  QCOMPARE(read_runs_of(written(folder, "trainer_state.json", text)).runs.at(0).outcome.status,
           telemetry::RunStatus::finished); // the trainer has summed it up
  const std::size_t summary = text.find("train_runtime");
  text.replace(summary, 13, "other_runtime");
  QCOMPARE(read_runs_of(written(folder, "trainer_state.json", text)).runs.at(0).outcome.status,
           telemetry::RunStatus::interrupted);
  for (const char* callbacks : {"null", "[]", "{\"EarlyStoppingCallback\": 3}",
                                "{\"EarlyStoppingCallback\": {\"args\": {}, \"attributes\": {}}}"})
    QCOMPARE(read_runs_of(written(folder, "trainer_state.json",
                                  std::string("{\"log_history\": [{\"step\": 1, \"loss\": 1}], \"max_steps\": 3, "
                                              "\"global_step\": 1, \"stateful_callbacks\": ") +
                                      callbacks + "}"))
                 .runs.at(0)
                 .outcome.status,
             telemetry::RunStatus::interrupted);
}

void TestImport::stepsThatAreNone_data() {
  QTest::addColumn<QByteArray>("step");
  for (const char* step : {"18446744073709551615", "9223372036854775808", "1e308", "-1e308", "0.5", "-1", "\"3\"",
                           "null", "true", "\"NaN\""})
    QTest::newRow(step) << QByteArray(step);
}

/// No number becomes another one: of a Trainer's state the row is left out, our own format is refused.
void TestImport::stepsThatAreNone() {
  QFETCH(QByteArray, step);
  const Folder folder;
  const auto state = written(folder, "trainer_state.json",
                             "{\"train_batch_size\": 0, \"log_history\": [{\"step\": 1, \"loss\": 2.0}, {\"step\": " +
                                 step.toStdString() + ", \"loss\": 1.0}, {\"step\": 2.0, \"loss\": 1.5}]}");
  const ImportedRuns read = read_runs_of(state);
  const auto points = points_of(read.runs.at(0), "loss");
  QCOMPARE(points.size(), std::size_t{2});
  QVERIFY(points[0].step == 1 && points[0].value == 2 && points[1].step == 2 && points[1].value == 1.5);
  QCOMPARE(read.remarks.size(), std::size_t{1});
  QVERIFY2(read.remarks[0].ends_with("rows that were left out: 1"), read.remarks[0].c_str());
  QVERIFY(!parse_json(read.runs.at(0).spec_json).contains("batch")); // 0 is none
  {
    store::RunStore store(folder.file());
    auto run = store.begin(store::test::new_run("one"));
    run->sink().record(store::test::record_at(1));
    run->finish(store::test::outcome(telemetry::RunStatus::finished));
  }
  const store::RunReader reader(folder.file());
  const std::string whole = json_of(reader, {1});
  const Json document = parse_json(whole);
  QCOMPARE(read_runs_of(written(folder, "runs.json", whole)).runs.size(), std::size_t{1});
  const auto refused = [&](const Json::json_pointer& place) {
    Json changed = document;
    changed[place] = step == "-1" ? Json(0.5) : parse_json(step.toStdString()); // steps may begin anywhere there
    return refusal(written(folder, "runs.json", json_text(changed))).contains("runs.json: ");
  };
  QVERIFY(refused(Json::json_pointer("/runs/0/series/loss/0/0")));
  QVERIFY(step == "null" || refused(Json::json_pointer("/runs/0/summary/steps")));
}

void TestImport::whatIsNoFile() {
  const Folder folder;
  const std::string pipe = folder.file("metrics.csv").string();
  QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
  QVERIFY(refusal(pipe).contains("is neither a regular file nor a folder"));
  QVERIFY(refusal("/dev/zero").contains("is neither a regular file nor a folder"));
  for (const char* name : {"events.out.tfevents.1", "trainer_state.json", "config.yaml", "wandb-summary.json"})
    QCOMPARE(::mkfifo(folder.file(name).c_str(), 0600), 0);
  QVERIFY(!refusal(folder.path()).isEmpty()); // and nothing waits
}

void TestImport::foldersOfLogs() {
  const Folder folder;
  QCOMPARE(import_into(folder, real_file("lightning")).imported, std::vector<std::int64_t>{1});
  QCOMPARE(import_into(folder, real_file("lightning/version_0")).known, std::vector<std::int64_t>{1});
  QCOMPARE(import_into(folder, real_file("lightning/version_0/metrics.csv")).known, std::vector<std::int64_t>{1});
  QCOMPARE(import_into(folder, real_file("transformers")).imported, std::vector<std::int64_t>{2});
  QCOMPARE(import_into(folder, real_file("transformers/checkpoint-20")).known, std::vector<std::int64_t>{2});
  const auto whole = store::test::text_of(real_file("transformers/checkpoint-20/trainer_state.json"));
  for (const char* name : {"checkpoint-9", "checkpoint-100"}) {
    std::filesystem::create_directories(folder.file("out") / name);
    written(folder, std::string("out/") + name + "/trainer_state.json",
            std::string(name) == "checkpoint-9" ? whole : R"({"log_history": [{"loss": 0.5, "step": 100}]})");
  }
  QCOMPARE(import_into(folder, folder.file("out")).imported, std::vector<std::int64_t>{3});
  QCOMPARE(store::RunReader(folder.file()).run(3).outcome.steps, std::int64_t{100}); // the newest checkpoint
}

void TestImport::mlflow_data() {
  QTest::addColumn<bool>("database");
  QTest::newRow("mlruns") << false;
  QTest::newRow("mlflow.db") << true;
}

void TestImport::mlflow() {
  QFETCH(bool, database);
  const Folder folder;
  const auto path = database ? mlflow_database(folder) : real_file("mlflow/mlruns");
  const auto result = import_into(folder, path);
  QCOMPARE(result.imported.size(), std::size_t{3}); // the fourth was deleted there
  const store::RunReader reader(folder.file());
  std::map<std::string, store::RunRow> runs;
  for (const store::RunRow& run : reader.list())
    runs[run.name] = run;
  using telemetry::RunStatus;
  QCOMPARE(runs["steady"].outcome.status, RunStatus::finished);
  QCOMPARE(runs["broken"].outcome.status, RunStatus::failed);
  QVERIFY(!runs["broken"].outcome.reason.empty());
  QCOMPARE(runs["growing"].outcome.status, RunStatus::interrupted); // nobody here knows whether it goes on
  const store::RunRow& run = runs["steady"];
  verify_losses(reader, run.id, 0, 0); // one of them was logged twice
  QCOMPARE(run.started, std::string("2023-11-14T22:13:20Z"));
  QVERIFY(run.outcome.batch == 16 && run.settings.learning_rate == 0.003 && run.settings.optimizer == "adam");
  QCOMPARE(reader.series(run.id, "seconds")[4].value, 2.0);
  const auto accuracy = reader.series(run.id, "validation_accuracy"); // two values at one step
  QVERIFY(accuracy.size() == 1 && accuracy.front().value == 0.75);
  const auto odd = reader.series(run.id, "odd");
  QCOMPARE(odd.size(), std::size_t{3});
  QVERIFY(std::isnan(odd[0].value) && odd[1].value == store::test::infinity && odd[2].value == -store::test::infinity);
  const Json settings = parse_json(reader.spec_json(run.id));
  QCOMPARE(settings["experiment"].get<std::string>(), std::string("digits"));
  QCOMPARE(settings["note"].get<std::string>(), std::string("a 'quoted' text"));
  const auto again = import_into(folder, path);
  QVERIFY(again.imported.empty() && again.extended.empty());
  QCOMPARE(again.known, result.imported);
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestImport::partsOfAnMlflowFolder() {
  const Folder folder;
  import_into(folder, real_file("mlflow/mlruns"));
  for (const auto& experiment : std::filesystem::directory_iterator(real_file("mlflow/mlruns"))) {
    const std::string name = experiment.path().filename().string();
    if (name == "0" || name == ".trash")
      continue; // the default experiment, and deleted ones: both have no runs
    QCOMPARE(import_into(folder, experiment).known.size(), std::size_t{3});
    for (const auto& run : std::filesystem::directory_iterator(experiment))
      if (run.is_directory() &&
          store::test::text_of(run.path() / "meta.yaml").find("stage: active") != std::string::npos)
        QCOMPARE(import_into(folder, run).known.size(), std::size_t{1});
  }
}

void TestImport::mlflowTags_data() {
  mlflow_data();
}

/// Tags, note, parent and measurements of the machine, which the real files have not.
void TestImport::mlflowTags() {
  QFETCH(bool, database);
  const Folder folder;
  std::filesystem::path path;
  const std::string long_text(200, 'x');
  const std::vector<std::pair<std::string, std::string>> tags = {{"mlflow.note.content", "a note\nof two lines"},
                                                                 {"mlflow.parentRunId", "abc"},
                                                                 {"mlflow.source.name", "train.py"},
                                                                 {"mlflow.user", "me"},
                                                                 {"dataset", "digits"},
                                                                 {"baseline", "true"},
                                                                 {"long", long_text}};
  if (database) {
    path = mlflow_database(folder);
    SQLite::Database mlflow(path.string(), SQLite::OPEN_READWRITE);
    mlflow.exec("INSERT INTO runs (run_uuid, name, status, start_time, lifecycle_stage) VALUES "
                "('abc', 'search', 'FINISHED', 1800000000000, 'active'), ('def', 'child', 'FINISHED', 1800000000001, "
                "'active')");
    for (const auto& [key, value] : tags)
      mlflow.exec("INSERT INTO tags VALUES ('" + key + "', '" + value + "', 'def')");
    mlflow.exec("INSERT INTO metrics VALUES ('loss', 2, 1800000001000, 'def', 10, 0), "
                "('loss', 1, 1800000002000, 'def', 20, 0), ('system/cpu', 50, 1800000000500, 'def', 0, 0), "
                "('system/cpu', 60, 1800000001500, 'def', 1, 0), ('system/cpu', 70, 1800000009000, 'def', 99, 0)");
  } else {
    path = folder.file("mlruns") / "1";
    for (const char* run : {"abc", "def"})
      for (const char* part : {"metrics/system", "params", "tags"})
        std::filesystem::create_directories(path / run / part);
    written(folder, "mlruns/1/meta.yaml", "name: digits\n");
    written(folder, "mlruns/1/abc/meta.yaml", "run_id: abc\nrun_name: search\nstart_time: 1800000000000\n");
    written(folder, "mlruns/1/def/meta.yaml", "run_id: def\nrun_name: child\nstart_time: 1800000000001\n");
    for (const auto& [key, value] : tags)
      written(folder, "mlruns/1/def/tags/" + key, value);
    written(folder, "mlruns/1/def/metrics/loss", "1800000001000 2 10\n1800000002000 1 20\n");
    written(folder, "mlruns/1/def/metrics/system/cpu", "1800000000500 50 0\n1800000001500 60 1\n1800000009000 70 99\n");
  }
  const ImportedRuns read = read_runs_of(path);
  const store::CompleteRun& run = read.runs.back();
  QCOMPARE(run.name, std::string("child"));
  QCOMPARE(run.note, std::string("a note\nof two lines"));
  QCOMPARE(run.tags, (std::vector<std::string>{"baseline", "dataset=digits"}));
  const Json settings = parse_json(run.spec_json);
  QVERIFY(settings["parent"] == "search" && settings["tags.long"] == long_text);
  QVERIFY(parse_json(run.environment_json)["script"] == "train.py");
  // A sample is at the step that the run had reached; its own number is no step.
  QCOMPARE(run.outcome.steps, std::int64_t{20});
  const auto samples = points_of(run, "system/cpu");
  QCOMPARE(samples.size(), std::size_t{2});
  QVERIFY(samples[0].step == 10 && samples[0].value == 60 && samples[1].step == 20 && samples[1].value == 70);
}

void TestImport::grownFiles_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("first");
  QTest::addColumn<QString>("later");
  // Lightning writes its table again when a metric is new, with the columns in another order.
  QTest::newRow("metrics.csv") << "metrics.csv"
                               << "step,lr,train_loss\n0,0.1,1\n1,0.1,0.5\n"
                               << "acc,step,lr,train_loss\n,0,0.1,1\n,1,0.1,0.5\n,2,0.1,0.25\n0.75,2,,\n";
  QTest::newRow("trainer_state.json")
      << "trainer_state.json"
      << R"({"log_history": [{"loss": 1.0, "step": 1}], "max_steps": 3, "global_step": 1})"
      << R"({"log_history": [{"loss": 1.0, "step": 1}, {"loss": NaN, "step": 3}], "max_steps": 3, "global_step": 3})";
}

/// A run whose file has grown is the same run with more points, as if only the later file had been read.
void TestImport::grownFiles() {
  QFETCH(QString, name);
  QFETCH(QString, first);
  QFETCH(QString, later);
  const Folder folder;
  const Folder other;
  import_into(folder, written(folder, name.toStdString(), first.toStdString()));
  {
    store::RunStore store(folder.file());
    store.rename(1, "mine");
    store.set_note(1, "also mine");
  }
  const auto grown = written(folder, name.toStdString(), later.toStdString());
  const auto result = import_into(folder, grown);
  QCOMPARE(result.known, std::vector<std::int64_t>{1});
  QCOMPARE(result.extended, std::vector<std::int64_t>{1});
  QVERIFY(import_into(folder, grown).extended.empty());
  import_into(other, grown);
  const store::RunReader reader(folder.file());
  const store::RunReader expected(other.file());
  QCOMPARE(reader.series_names(1).size(), expected.series_names(1).size());
  for (const std::string& series : expected.series_names(1)) {
    const auto points = reader.series(1, series);
    const auto whole = expected.series(1, series);
    QCOMPARE(points.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      QVERIFY(points[i].step == whole[i].step && same(points[i].value, whole[i].value));
  }
  QCOMPARE(telemetry::to_json(reader.run(1).outcome).dump(), telemetry::to_json(expected.run(1).outcome).dump());
  QVERIFY(reader.run(1).name == "mine" && reader.run(1).note == "also mine");
  QCOMPARE(reader.check(), std::vector<std::string>{});
  // A deleted run stays as it was deleted.
  store::RunStore(folder.file()).set_deleted({1}, true);
  const auto more = later.endsWith('\n') ? later + "0.9,3,,\n" : later;
  QVERIFY(import_into(folder, written(folder, name.toStdString(), more.toStdString())).extended.empty());
}

void TestImport::anOlderCopyChangesNothing() {
  const Folder folder;
  const auto file = written(folder, "a.csv", "step,x\n1,1\n2,2\n3,3\n");
  import_into(folder, file);
  const std::string before = json_of(store::RunReader(folder.file()), {1});
  const auto result = import_into(folder, written(folder, "a.csv", "step,x\n1,1\n2,2\n"));
  QVERIFY(result.known.size() == 1 && result.extended.empty());
  QCOMPARE(json_of(store::RunReader(folder.file()), {1}), before);
}

/// Lightning calls the folders of all programs `version_0`, and the first row of two runs may be the same.
void TestImport::equalNamesAreOtherRuns() {
  const Folder folder;
  std::vector<std::filesystem::path> files;
  for (const char* program : {"0", "1", "2"}) {
    std::filesystem::create_directories(folder.file(program) / "version_0");
    files.push_back(written(folder, std::string(program) + "/version_0/metrics.csv",
                            std::string("step,train_loss\n0,0.5\n1,") + program + "\n"));
  }
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto result = import_into(folder, files[i]);
      QCOMPARE(round == 0 ? result.imported : result.known,
               std::vector<std::int64_t>{static_cast<std::int64_t>(i) + 1});
    }
  for (std::size_t i = 0; i < files.size(); ++i)
    QCOMPARE(store::RunReader(folder.file()).series(static_cast<std::int64_t>(i) + 1, "loss").back().value,
             static_cast<double>(i));
}

void TestImport::tablesWithOtherNames() {
  const Folder folder;
  const auto file = written(folder, "other.csv", "tick,f1,comment\n2,0.5,late\n1,0.25,\"a, b\"\n2,0.75,again\n");
  QVERIFY2(refusal(file).contains("no column counts the steps") && refusal(file).contains("tick"),
           refusal(file).constData());
  const auto of_two_lines = refusal(written(folder, "lines.csv", "\"a\nb\",c\n1,2\n"));
  QVERIFY2(of_two_lines.contains("a b, c") && !of_two_lines.contains('\n'), of_two_lines.constData());
  ImportOptions options;
  options.names = {{"tick", "step"}, {"f1", "validation_accuracy"}};
  import_into(folder, file, options);
  const auto points = store::RunReader(folder.file()).series(1, "validation_accuracy");
  QCOMPARE(points.size(), std::size_t{2}); // in order, the last of two at one step
  QVERIFY(points[0].step == 1 && points[1].value == 0.75);
  // A column without a name is left out; one that is given goes before one that is called step.
  options.names = {{"count", "step"}, {"b", ""}};
  import_into(folder, written(folder, "two.csv", "step,count,a,b\n0.5,7,1,2\n"), options);
  const store::RunReader reader(folder.file());
  QCOMPARE(reader.series_names(2), std::vector<std::string>{"a"});
  QCOMPARE(reader.series(2, "a").front().step, std::int64_t{7});
}

void TestImport::tablesWithBlanksAndTexts() {
  const Folder folder;
  const ImportedRuns read = read_runs_of(
      written(folder, "a.csv", "step, loss ,note\n1, 0.5,warm\n 2 ,abc,up\n3,,late\n4,1e400,\n5,\" 0.25 \",\n"));
  QCOMPARE(read.remarks.size(), std::size_t{1}); // a column of texts is none of values
  QVERIFY2(
      read.remarks[0].ends_with("values of loss that are no numbers were left out: 2, the first in line 3, \"abc\""),
      read.remarks[0].c_str());
  store::RunStore store(folder.file());
  store_runs(read, store);
  const auto points = store::RunReader(folder.file()).series(1, "loss");
  QCOMPARE(points.size(), std::size_t{2});
  QVERIFY(points[0].value == 0.5 && points[1].step == 5 && points[1].value == 0.25);
}

/// A program that is started again writes its header again, perhaps with another column.
void TestImport::tablesWithSeveralHeaders() {
  const Folder folder;
  const ImportedRuns read =
      read_runs_of(written(folder, "a.csv", "step,loss\n1,3\nstep, loss\n2,2\nloss,step,lr\n1,3,0.5\n"));
  QVERIFY(read.remarks.empty());
  const auto losses = points_of(read.runs.at(0), "loss");
  QCOMPARE(losses.size(), std::size_t{3});
  QVERIFY(losses[1].value == 2 && losses[2].step == 3 && losses[2].value == 1);
  QCOMPARE(points_of(read.runs.at(0), "lr").size() + points_of(read.runs.at(0), "learning_rate").size(),
           std::size_t{1});
}

/// The header was written anew, the rows before it were not.
void TestImport::tablesWithColumnsThatCameLater() {
  const Folder folder;
  const ImportedRuns read =
      read_runs_of(written(folder, "a.csv", "step,loss,f1,f2\n1,3\n2,2\n3,1,0.5\n4,0.5,0.5,0.25\n5,0.25,0.5\n"));
  QCOMPARE(points_of(read.runs.at(0), "loss").size(), std::size_t{4});
  QCOMPARE(points_of(read.runs.at(0), "f2").size(), std::size_t{1});
  QCOMPARE(read.remarks.size(), std::size_t{1}); // once they have all columns, a shorter one is damaged
  QVERIFY2(read.remarks[0].ends_with("a.csv, line 6: 3 values; the header has 4 columns; damaged lines that were left "
                                     "out: 1"),
           read.remarks[0].c_str());
}

void TestImport::tablesOfEpochs() {
  const Folder folder;
  const ImportedRuns keras = read_runs_of(written(folder, "a.csv", "epoch,loss,val_loss\n0,3,4\n1,2,3\n"));
  QCOMPARE(points_of(keras.runs.at(0), "validation_loss").back().step, std::int64_t{1});
  QCOMPARE(keras.runs.at(0).outcome.epoch, 1.0);
  // A column of steps goes before it.
  const ImportedRuns both = read_runs_of(written(folder, "b.csv", "epoch,step,loss\n0,10,4\n1,20,3\n"));
  QCOMPARE(points_of(both.runs.at(0), "loss").back().step, std::int64_t{20});
  for (const char* name : {"iter", "iteration", "global_step"}) {
    const auto counted =
        read_runs_of(written(folder, "i.csv", std::string("epoch,loss,") + name + "\n0,4,10\n1,3,20\n"));
    QCOMPARE(points_of(counted.runs.at(0), "loss").back().step, std::int64_t{20});
    QCOMPARE(points_of(counted.runs.at(0), "epoch").size(), std::size_t{2});
    QVERIFY(points_of(counted.runs.at(0), name).empty());
  }
  QVERIFY(refusal(written(folder, "c.csv", "epoch,loss\n0.5,3\n")).contains("line 2: the step is not a whole number"));
}

/// As Excel writes them in many countries.
void TestImport::tablesWithSemicolons() {
  const Folder folder;
  const auto file = written(
      folder, "a.csv", "\xEF\xBB\xBFstep;loss;\"a;b\";note\r\n1;0,5;1.5;x\r\n2;-2,5e-1;;1,2,3\r\n3;1.234,5;2;\r\n");
  const ImportedRuns read = read_runs_of(file);
  const auto losses = points_of(read.runs.at(0), "loss");
  QCOMPARE(losses.size(), std::size_t{2});
  QVERIFY(losses[0].value == 0.5 && losses[1].value == -0.25);
  QCOMPARE(points_of(read.runs.at(0), "a;b").size(), std::size_t{2});
  QCOMPARE(read.remarks.size(), std::size_t{1}); // 1.234,5 could be two numbers
  QVERIFY(read.remarks[0].find("values of loss that are no numbers were left out: 1, the first in line 4") !=
          std::string::npos);
  const auto columns = importer_of(file)->columns(file);
  QVERIFY(columns.size() == 4 && columns[0].name == "step" && columns[2].name == "a;b");
  QCOMPARE(points_of(read_runs_of(written(folder, "b.csv", "step\tloss\n1\t0.5\n")).runs.at(0), "loss").size(),
           std::size_t{1});
  // Among commas, a comma is none in a number.
  QVERIFY(refusal(written(folder, "c.csv", "step,loss\n1,0,5\n")).contains("line 2: 3 values"));
}

void TestImport::damagedLinesOfTables() {
  const Folder folder;
  const ImportedRuns read = read_runs_of(
      written(folder, "a.csv", "step,loss\n1,3\n2\n3,1,7\nx,1\n4,\"0.5\n5,\"0.25\"x\n\n6,\xff\n7,0.125\n"));
  const auto losses = points_of(read.runs.at(0), "loss");
  QCOMPARE(losses.size(), std::size_t{2});
  QVERIFY(losses[0].step == 1 && losses[1].step == 7 && losses[1].value == 0.125);
  QCOMPARE(read.remarks.size(), std::size_t{2});
  QVERIFY2(read.remarks[0].ends_with("a.csv, line 3: 1 values; the header has 2 columns; damaged lines that were left "
                                     "out: 5"),
           read.remarks[0].c_str());
}

/// One row per step of several runs, as `export --format csv` writes them.
void TestImport::ownTables() {
  const Folder first;
  {
    store::RunStore store(first.file());
    for (const char* name : {"a", "b"}) {
      auto run = store.begin(store::test::new_run(name));
      for (std::int64_t step = 1; step <= 20; ++step)
        run->sink().record(store::test::record_at(step));
      run->finish(store::test::outcome(telemetry::RunStatus::finished));
    }
  }
  const store::RunReader before(first.file());
  export_to_file(before, {1, 2}, "csv", first.file("runs.csv"), false);
  const Folder second;
  QCOMPARE(import_into(second, first.file("runs.csv")).imported.size(), std::size_t{2});
  const store::RunReader after(second.file());
  for (std::size_t i = 0; i < 20; ++i)
    QVERIFY(same(after.series(2, "grad_norm")[i].value, before.series(2, "grad_norm")[i].value));
}

void TestImport::refused() {
  const Folder folder;
  QVERIFY(refusal(folder.file("missing")).endsWith("no such file or folder"));
  QVERIFY(refusal(folder.path()).contains("accepted: BatchScope's JSON, W&B's folder"));
  QVERIFY(refusal(written(folder, "x.txt", "hello")).contains("not a file that can be imported"));
  QVERIFY(refusal(written(folder, "empty.csv", "")).contains("empty"));
  QVERIFY(refusal(written(folder, "a.csv", "step,x\n1,2,3\n")).contains("line 2"));
  QVERIFY(refusal(written(folder, "b.csv", "step,x\nfirst,2\n")).contains("line 2"));
  QVERIFY(refusal(written(folder, "c.csv", "step,x\n1,text\n")).contains("has no runs with values"));
  {
    SQLite::Database other(folder.file("other.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE t (x)");
  }
  QVERIFY(refusal(folder.file("other.db")).contains("without MLflow's tables"));
  QVERIFY(refusal(written(folder, "cut.db", store::test::text_of(folder.file("other.db")).substr(0, 4000)))
              .contains("cannot be read as MLflow's database"));
  std::filesystem::create_directories(folder.file("run") / "metrics");
  written(folder, "run/meta.yaml", "run_id: abc\n");
  written(folder, "run/metrics/loss", "1 0.5 1\nhello\n");
  QVERIFY(refusal(folder.file("run")).contains("metrics/loss, line 2"));
  QVERIFY(
      refusal(written(folder, "events.out.tfevents.1", "hello, not that")).contains("not a TensorBoard event file"));
  QVERIFY(refusal(written(folder, "trainer_state.json", "{}")).contains("log_history"));
  QVERIFY(refusal(written(folder, "trainer_state.json", "{")).contains("line 1"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  QVERIFY(refusal(written(folder, "trainer_state.json", "{\"log_history\": [" + deep + "]}")).contains("more levels"));
  QVERIFY(!std::filesystem::exists(folder.file()));
}

/// Whatever is changed in a file of ours: it is refused with one line, or what is read is stored and sound.
void TestImport::damagedJsonIsRefused() {
  const Folder folder;
  {
    store::RunStore store(folder.file());
    auto run = store.begin(store::test::new_run("a"));
    for (std::int64_t step = 1; step <= 3; ++step)
      run->sink().record(store::test::record_at(step));
    run->finish(store::test::outcome(telemetry::RunStatus::finished));
  }
  const std::string whole = json_of(store::RunReader(folder.file()), {1});
  std::srand(3);
  for (int round = 0; round < 300; ++round) {
    std::string text = whole;
    const auto at = static_cast<std::size_t>(std::rand()) % (text.size() - 60) + 60;
    if (round % 3 == 0)
      text.resize(at);
    else if (round % 3 == 1)
      text.erase(at, 1 + static_cast<std::size_t>(std::rand() % 10));
    else
      text[at] = "0\"{[]},:a"[std::rand() % 9];
    const auto file = written(folder, "damaged.json", text);
    const Folder target;
    try {
      import_into(target, file);
      QCOMPARE(store::RunReader(target.file()).check(), std::vector<std::string>{});
    } catch (const Error& error) {
      QVERIFY(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

BATCHSCOPE_TEST(TestImport)
#include "tst_import.moc"
