#include "core/exchange/import.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include <QTest>

#include "core/base/json.h"
#include "core/exchange/export.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using batchscope::store::test::Folder;
using batchscope::store::test::same;

namespace {

/// Written by the real tools, with the script beside them.
std::filesystem::path real_file(const char* name) {
  return std::filesystem::path(BATCHSCOPE_SOURCE_DIR) / "tests/core/exchange/files" / name;
}

ImportResult import_into(const Folder& folder, const std::filesystem::path& file, const ImportOptions& options = {}) {
  const ImportedRuns read = read_runs_of(file, options);
  store::RunStore store(folder.file());
  return store_runs(read, store);
}

QByteArray refusal(const std::filesystem::path& file) {
  try {
    read_runs_of(file);
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? QByteArray(error.what()) : "another kind";
  }
  return {};
}

std::string json_of(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::ostringstream out;
  make_exporter("json")->write(reader, ids, out);
  return out.str();
}

std::filesystem::path written(const Folder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder.file(name)) << text;
  return folder.file(name);
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
  void tablesWithOtherNames();
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
      writer->sink().event({.step = 3000,
                            .seconds = 3,
                            .kind = "evaluation",
                            .detail_json = R"({"loss":0.5})",
                            .values = {{"validation_loss", store::test::infinity}}});
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
  QCOMPARE(reader.run(1).name, std::string("checkpoint-20"));
  QVERIFY(std::isnan(reader.series(1, "grad_norm")[2].value)); // a bare NaN, as Python writes it
  QVERIFY(reader.spec_json(1).find(R"("batch":8)") != std::string::npos);
}

void TestImport::tablesWithOtherNames() {
  const Folder folder;
  const auto file = written(folder, "other.csv", "iteration,f1,comment\n2,0.5,late\n1,0.25,\"a, b\"\n2,0.75,again\n");
  QVERIFY2(refusal(file).contains("no column counts the steps") && refusal(file).contains("iteration"),
           refusal(file).constData());
  ImportOptions options;
  options.names = {{"iteration", "step"}, {"f1", "validation_accuracy"}};
  import_into(folder, file, options);
  const auto points = store::RunReader(folder.file()).series(1, "validation_accuracy");
  QCOMPARE(points.size(), std::size_t{2}); // in order, the last of two at one step
  QVERIFY(points[0].step == 1 && points[1].value == 0.75);
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
  QVERIFY(refusal(folder.path()).contains("accepted: BatchScope's JSON, TensorBoard"));
  QVERIFY(refusal(written(folder, "x.txt", "hello")).contains("not a file that can be imported"));
  QVERIFY(refusal(written(folder, "empty.csv", "")).contains("empty"));
  QVERIFY(refusal(written(folder, "a.csv", "step,x\n1,2,3\n")).contains("line 2"));
  QVERIFY(refusal(written(folder, "b.csv", "step,x\nfirst,2\n")).contains("line 2"));
  QVERIFY(refusal(written(folder, "c.csv", "step,x\n1,text\n")).contains("no column has numbers"));
  QVERIFY(
      refusal(written(folder, "events.out.tfevents.1", "hello, not that")).contains("not a TensorBoard event file"));
  QVERIFY(refusal(written(folder, "trainer_state.json", "{}")).contains("log_history"));
  QVERIFY(refusal(written(folder, "trainer_state.json", "{")).contains("line 1"));
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
