#include <algorithm>
#include <cmath>
#include <fstream>

#include <QTest>

#include "core/base/json.h"
#include "core/exchange/detail/protobuf.h"
#include "core/exchange/detail/yaml.h"
#include "core/exchange/import.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/exchange/import_test.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using namespace batchscope::exchange::test;
using batchscope::store::test::Folder;

namespace {

namespace fs = std::filesystem;

/// The checksum of W&B's logs (CRC-32 as in zlib), bit by bit.
std::uint32_t crc_bit_by_bit(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
  }
  return ~crc;
}

/// Writes a log, in blocks as LevelDB does.
class WandbLogWriter {
public:
  void write(const std::string& record) {
    constexpr std::size_t block = 32768, head = 7;
    std::size_t at = 0;
    do {
      std::size_t room = block - text_.size() % block;
      if (room < head) {
        text_.append(room, '\0');
        room = block;
      }
      const std::size_t size = std::min(record.size() - at, room - head);
      const bool begins = at == 0, ends = at + size == record.size();
      part(begins && ends ? 1 : begins ? 2 : ends ? 4 : 3, record.substr(at, size));
      at += size;
    } while (at < record.size());
  }
  const std::string& text() const { return text_; }

private:
  void part(int kind, const std::string& data) {
    const std::string checked = static_cast<char>(kind) + data;
    const std::uint32_t crc = crc_bit_by_bit(checked);
    const auto size = static_cast<std::uint16_t>(data.size());
    text_.append(reinterpret_cast<const char*>(&crc), 4);
    text_.append(reinterpret_cast<const char*>(&size), 2);
    text_ += checked;
  }

  std::string text_ = std::string(":W&B\xE1\xBE\0", 7);
};

std::string field(int number, const std::string& bytes) {
  std::string text;
  detail::append_bytes(text, number, bytes);
  return text;
}

std::string wandb_item(const std::string& key, const std::string& json) {
  return field(1, field(1, key) + field(16, json));
}

std::string history(std::int64_t step, const std::string& key, const std::string& json) {
  return field(2, wandb_item(key, json) + wandb_item("_step", std::to_string(step)));
}

/// A folder of a run with this log.
fs::path wandb_run(const Folder& folder, const std::string& log, const std::string& name = "run-20240101_120000-abc") {
  fs::create_directories(folder.file(name));
  return written(folder, name + "/run-abc.wandb", log).parent_path();
}

std::vector<std::int64_t> steps_of(const ImportedRuns& read, const std::string& series = "loss") {
  std::vector<std::int64_t> steps;
  for (const store::CompleteRun& run : read.runs)
    for (const store::Point& point : points_of(run, series))
      steps.push_back(point.step);
  return steps;
}

} // namespace

class TestImportWandb : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aFolderOfRuns() {
    const Folder folder;
    const auto result = import_into(folder, real_file("wandb"));
    QCOMPARE(result.imported, (std::vector<std::int64_t>{1, 2, 3}));
    const store::RunReader reader(folder.file());
    using telemetry::RunStatus;
    QCOMPARE(reader.run(1).name, std::string("steady-sea-7"));
    QCOMPARE(reader.run(1).outcome.status, RunStatus::finished);
    QCOMPARE(reader.run(2).outcome.status, RunStatus::failed);
    QCOMPARE(reader.run(2).outcome.reason, std::string("exit code -9, according to W&B"));
    // Without a log, what the server shows: the last values.
    QCOMPARE(reader.run(3).name, std::string("shown"));
    QCOMPARE(reader.series(3, "loss").front().step, std::int64_t{99});
    QCOMPARE(*reader.run(3).outcome.loss, 0.25);
    QCOMPARE(*reader.run(3).settings.learning_rate, 0.01);
    QCOMPARE(reader.check(), std::vector<std::string>{});
    const auto again = import_into(folder, real_file("wandb"));
    QVERIFY(again.imported.empty() && again.extended.empty());
    // One of them alone, by its folder or its log.
    const std::string one = "wandb/offline-run-20231114_221320-abc123xy";
    QCOMPARE(import_into(folder, real_file(one.c_str())).known, std::vector<std::int64_t>{1});
    QCOMPARE(import_into(folder, real_file((one + "/run-abc123xy.wandb").c_str())).known, std::vector<std::int64_t>{1});
  }

  void pointsSettingsAndTexts() {
    const Folder folder;
    import_into(folder, real_file("wandb/offline-run-20231114_221320-abc123xy"));
    const store::RunReader reader(folder.file());
    const auto losses = reader.series(1, "loss");
    QCOMPARE(losses.size(), std::size_t{20});
    for (std::size_t i = 0; i < losses.size(); ++i)
      QVERIFY(losses[i].step == static_cast<std::int64_t>(i) && losses[i].value == 1.0 / static_cast<double>(i + 1));
    QCOMPARE(reader.series(1, "seconds")[4].value, 2.0);
    // Its own step metric counts the steps of val/acc, W&B's counter those of the others in the row.
    const auto accuracy = reader.series(1, "validation_accuracy");
    QVERIFY(accuracy.size() == 1 && accuracy[0].step == 190 && accuracy[0].value == 0.75);
    QVERIFY(reader.series(1, "odd").front().step == 20 && std::isnan(reader.series(1, "odd").front().value));
    QCOMPARE(reader.series(1, "nested.f1").front().value, 0.5);
    QCOMPARE(reader.series(1, "test_score").front().step, std::int64_t{190}); // of the summary only, at the end
    const auto names = reader.series_names(1);
    QVERIFY(std::none_of(names.begin(), names.end(),
                         [](const std::string& name) { return name.starts_with('_') || name.starts_with("image"); }));
    // A sample of the machine is at the step that the run had reached.
    const auto memory = reader.series(1, "system/gpu.0.memoryAllocatedBytes");
    QVERIFY(memory.size() == 2 && memory[0].step == 4 && memory[1].step == 9 && memory[1].value == 9000);
    const store::RunRow run = reader.run(1);
    QCOMPARE(run.note, std::string("a note\nof two lines"));
    QCOMPARE(run.tags, (std::vector<std::string>{"baseline", "gpu"}));
    QCOMPARE(run.started, std::string("2023-11-14T22:13:20Z"));
    QCOMPARE(run.outcome.steps, std::int64_t{190});
    QCOMPARE(run.outcome.batch, std::int64_t{16});
    const Json settings = parse_json(reader.spec_json(1));
    QVERIFY(settings["model.depth"] == 4); // changed while it ran
    QVERIFY(settings["model.width"] == "[8,16]");
    QVERIFY(settings["only_here"] == "[1,\"it's\"]");
    QVERIFY(settings["project"] == "digits");
    QVERIFY(settings["group"] == "night");
    QVERIFY(!settings.contains("_wandb") && !settings.contains("_wandb.t.1"));
    const Json environment = parse_json(reader.environment_json(1));
    QVERIFY(environment["device"] == "NVIDIA L40S");
    QVERIFY(environment["git_commit"] == "0123abcd");
    const auto events = reader.events(1);
    QCOMPARE(events.size(), std::size_t{1});
    const auto& output = std::get<telemetry::ProgramOutput>(events.front().body);
    QCOMPARE(output.tail, std::string("epoch 1\nepoch 2\ndone\n"));
    QVERIFY(output.file.ends_with("files/output.log"));
  }

  void recordsInSeveralBlocks() {
    const Folder folder;
    WandbLogWriter log;
    const std::string text(100'000, 'x');
    for (std::int64_t step = 1; step <= 3000; ++step)
      log.write(history(step, "loss", "0.5") + (step % 1000 == 0 ? field(13, field(3, text)) : ""));
    const auto read = read_runs_of(wandb_run(folder, log.text()));
    QCOMPARE(steps_of(read).size(), std::size_t{3000});
    QVERIFY(read.remarks.empty());
  }

  /// A block of a log begins after every number of bytes of the block before.
  void recordsOfAllSizesAtTheEndOfABlock() {
    for (std::size_t size = 32730; size < 32768; ++size) {
      const Folder folder;
      WandbLogWriter log;
      log.write(field(13, std::string(size, 'x')));
      log.write(history(1, "loss", "0.5"));
      QCOMPARE(steps_of(read_runs_of(wandb_run(folder, log.text()))), std::vector<std::int64_t>{1});
    }
  }

  void damageCostsItself_data() {
    QTest::addColumn<int>("at");
    QTest::newRow("checksum") << 0;
    QTest::newRow("kind") << 6;
    QTest::newRow("data") << 20;
  }
  void damageCostsItself() {
    QFETCH(int, at);
    const Folder folder;
    WandbLogWriter log;
    log.write(history(1, "loss", "3"));
    const std::size_t second = log.text().size();
    log.write(history(2, "loss", "2"));
    log.write(history(3, "loss", "1"));
    std::string text = log.text();
    text[second + static_cast<std::size_t>(at)] ^= 0x55;
    const auto read = read_runs_of(wandb_run(folder, text));
    QCOMPARE(steps_of(read), (std::vector<std::int64_t>{1, 3}));
    QCOMPARE(read.remarks.size(), std::size_t{1});
    QVERIFY2(read.remarks[0].ends_with("damaged records were left out: 1, the first at byte " + std::to_string(second)),
             read.remarks[0].c_str());
  }

  void aDamagedSizeCostsItsBlock() {
    const Folder folder;
    WandbLogWriter log;
    for (std::int64_t step = 1; step <= 3000; ++step)
      log.write(history(step, "loss", "0.5"));
    std::string text = log.text();
    text[7 + 4] ^= 0x01;
    const auto read = read_runs_of(wandb_run(folder, text));
    const auto steps = steps_of(read);
    QVERIFY(steps.size() > 1500 && steps.size() < 3000 && steps.back() == 3000);
    QCOMPARE(read.remarks.size(), std::size_t{1});
  }

  void aLogThatIsCutOffIsReadAsFarAsItGoes() {
    const Folder folder;
    WandbLogWriter log;
    log.write(history(1, "loss", "3"));
    const std::size_t one = log.text().size();
    log.write(history(2, "loss", "2"));
    for (std::size_t size = 0; size < one; ++size) // as of a program that was killed at its start
      QVERIFY(refusal(wandb_run(folder, log.text().substr(0, size))).endsWith("has no runs with values"));
    for (std::size_t size = one; size < log.text().size(); ++size) {
      const auto read = read_runs_of(wandb_run(folder, log.text().substr(0, size)));
      QCOMPARE(steps_of(read), std::vector<std::int64_t>{1});
      QVERIFY(read.remarks.empty());
      QCOMPARE(read.runs[0].outcome.status, telemetry::RunStatus::interrupted); // it has no end
    }
  }

  void oneDamagedLogKeepsNoOtherFromBeingRead() {
    const Folder folder;
    WandbLogWriter log;
    log.write(history(1, "loss", "3"));
    wandb_run(folder, log.text());
    fs::create_directories(folder.file("run-20240102_120000-def"));
    const auto other = written(folder, "run-20240102_120000-def/run-def.wandb", "hello");
    const auto read = read_runs_of(folder.path());
    QCOMPARE(read.runs.size(), std::size_t{1});
    QCOMPARE(read.remarks, std::vector<std::string>{other.string() + ": not a log of W&B; it was left out"});
    QVERIFY(refusal(other.parent_path()).contains("no runs with values"));
  }

  /// W&B makes a new folder when a run goes on; `latest-run` is a link to it.
  void partsOfARunAreOneRun() {
    const Folder folder;
    const auto part = [](std::initializer_list<std::int64_t> steps) {
      WandbLogWriter log;
      log.write(field(17, field(1, "abc") + field(3, "digits")));
      for (const std::int64_t step : steps)
        log.write(history(step, "loss", std::to_string(steps.size())));
      return log.text();
    };
    const Folder database;
    wandb_run(folder, part({1, 2}));
    QCOMPARE(import_into(database, folder.path()).imported.size(), std::size_t{1});
    const auto later = wandb_run(folder, part({2, 3, 4}), "run-20240102_120000-abc");
    fs::create_directory_symlink(later.filename(), folder.file("latest-run"));
    QCOMPARE(import_into(database, folder.path()).extended, std::vector<std::int64_t>{1});
    const auto points = store::RunReader(database.file()).series(1, "loss");
    QCOMPARE(points.size(), std::size_t{4});
    QVERIFY(points[0].value == 2 && points[1].value == 3); // the later part counts
    QCOMPARE(read_runs_of(folder.file("latest-run")).runs.size(), std::size_t{1});
  }

  /// As of a log that was copied while the run went on.
  void aLogThatEndsBeforeTheRun() {
    const Folder folder;
    WandbLogWriter log;
    log.write(history(7, "loss", "3"));
    const auto run = wandb_run(folder, log.text());
    fs::create_directories(run / "files");
    std::ofstream(run / "files" / "wandb-summary.json") << R"({"loss": 1, "score": 0.5, "_step": 100})";
    const auto read = read_runs_of(run);
    QCOMPARE(read.remarks,
             std::vector<std::string>{run.string() + ": the log ends at step 7; the run has reached step 100"});
    QCOMPARE(steps_of(read), std::vector<std::int64_t>{7});
    QCOMPARE(steps_of(read, "score"), std::vector<std::int64_t>{100});
  }

  void stepMetrics() {
    const Folder folder;
    WandbLogWriter log;
    log.write(field(12, field(2, "*") + field(4, "train/global_step")));
    log.write(field(12, field(1, "f1") + field(4, "epoch"))); // epochs are no steps
    log.write(
        field(2, wandb_item("train/loss", "3") + wandb_item("train/global_step", "500") + wandb_item("_step", "1")));
    log.write(field(2, wandb_item("eval/loss", "2") + wandb_item("f1", "0.5") + wandb_item("_step", "2")));
    log.write(
        field(2, wandb_item("train/loss", "1") + wandb_item("train/global_step", "0.5") + wandb_item("_step", "3")));
    const auto read = read_runs_of(wandb_run(folder, log.text()));
    QCOMPARE(steps_of(read), (std::vector<std::int64_t>{3, 500}));               // no whole number: W&B's own
    QCOMPARE(steps_of(read, "validation_loss"), std::vector<std::int64_t>{500}); // the last one that it had
    QCOMPARE(steps_of(read, "f1"), std::vector<std::int64_t>{500});
    QCOMPARE(steps_of(read, "global_step"), std::vector<std::int64_t>{3});
  }

  void rowsWithoutAStepAreCounted() {
    const Folder folder;
    WandbLogWriter log;
    for (int row = 0; row < 3; ++row)
      log.write(field(2, wandb_item("loss", "1")));
    QCOMPARE(steps_of(read_runs_of(wandb_run(folder, log.text()))), (std::vector<std::int64_t>{0, 1, 2}));
  }

  /// Whatever is in a log: it is read or left out, and what is read is stored.
  void strangeRecords() {
    const std::string deep = std::string(100'000, '[');
    const std::string deep_object = [] {
      std::string text;
      for (int i = 0; i < 10'000; ++i)
        text += R"({"a":)";
      return text + "1" + std::string(10'000, '}');
    }();
    const Folder folder;
    WandbLogWriter log;
    log.write(history(1, "loss", "0.5"));
    log.write(history(1, "deep", deep));
    log.write(history(1, "deeper", deep_object));
    log.write(history(9'000'000'000'000'000'000, "far", "1"));
    log.write(history(1, "large", "1e999"));
    log.write(field(5, wandb_item("deep", deep_object) + wandb_item("none", "null") + wandb_item("bad", "{")));
    log.write(
        field(17, field(10, "12") + field(10, "two\nlines") + field(17, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f")));
    log.write("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    log.write(field(2, std::string("\x0a\xff\xff\xff\xff\x0f", 6)));
    const Folder database;
    QCOMPARE(import_into(database, wandb_run(folder, log.text())).imported.size(), std::size_t{1});
    const store::RunReader reader(database.file());
    QCOMPARE(reader.check(), std::vector<std::string>{});
    QCOMPARE(reader.run(1).tags, std::vector<std::string>{"two lines"});
    QCOMPARE(reader.series(1, "loss").size(), std::size_t{1});
  }

  void damagedBytes() {
    WandbLogWriter log;
    log.write(field(17, field(1, "abc") + field(3, "digits") + field(8, "name")));
    for (std::int64_t step = 1; step <= 20; ++step)
      log.write(history(step, "loss", "0.5"));
    std::srand(3);
    for (int round = 0; round < 300; ++round) {
      std::string text = log.text();
      for (int i = 0; i < 1 + round % 3; ++i)
        text[7 + static_cast<std::size_t>(std::rand()) % (text.size() - 7)] = static_cast<char>(std::rand());
      const Folder folder;
      try {
        const auto read = read_runs_of(wandb_run(folder, text));
        QVERIFY(steps_of(read).size() <= 20);
      } catch (const Error& error) {
        QVERIFY(std::string(error.what()).find('\n') == std::string::npos);
      }
    }
  }

  void yaml_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("json");
    QTest::newRow("empty") << ""
                           << "null";
    QTest::newRow("values") << "---\na: 1\nb: 0.5\nc: x y\nd: true\ne: null\nf:\ng: 1e-3\n# no\nh: .nan\n"
                            << R"({"a":1,"b":0.5,"c":"x y","d":true,"e":null,"f":null,"g":0.001,"h":"NaN"})";
    QTest::newRow("quotes") << "a: 'it''s: 1'\nb: \"x\\ny\"\n\"c d\": '1'\n'e': ''\n"
                            << "{\"a\":\"it's: 1\",\"b\":\"x\\ny\",\"c d\":\"1\",\"e\":\"\"}";
    QTest::newRow("nested") << "a:\n  value:\n    b: 1\n    c:\n      d: 2\ne: 3\n"
                            << R"({"a":{"value":{"b":1,"c":{"d":2}}},"e":3})";
    QTest::newRow("lists") << "a:\n- 1\n- x\nb:\n  - c: 1\n    d: 2\n  - []\ne: [1, 2]\nf: {}\ng:\n- - 1\n  - 2\n"
                           << R"({"a":[1,"x"],"b":[{"c":1,"d":2},[]],"e":[1,2],"f":{},"g":[[1,2]]})";
    QTest::newRow("long texts") << "a: one\n  two\nb: |-\n  three\n  four\nc: 1\n"
                                << R"({"a":"one two","b":"three\nfour","c":1})";
    QTest::newRow("addresses") << "a: http://x:1/y\nb: 12:30\n"
                               << R"({"a":"http://x:1/y","b":"12:30"})";
  }
  void yaml() {
    QFETCH(QString, text);
    QFETCH(QString, json);
    QCOMPARE(QString::fromStdString(json_text(detail::parse_yaml(text.toStdString()))), json);
  }

  void strangeYaml() {
    std::string deep;
    for (int i = 0; i < 3000; ++i)
      deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    QVERIFY(detail::parse_yaml(deep).is_object());
    std::string dashes;
    for (int i = 0; i < 3000; ++i)
      dashes += "- ";
    QVERIFY(detail::parse_yaml(dashes + "1").is_array());
    std::srand(5);
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      for (int i = 0; i < 40; ++i)
        text += "ab:- \n \n'\"[{|#"[std::rand() % 14];
      detail::parse_yaml(text);
    }
  }
};

BATCHSCOPE_TEST(TestImportWandb)
#include "tst_import_wandb.moc"
