#include <algorithm>
#include <fstream>
#include <sstream>

#include <QTest>

#include "core/base/crc32c.h"
#include "core/base/json.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/detail/protobuf.h"
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
using detail::append_bytes;
using detail::append_key;
using detail::append_varint;
using detail::Wire;

using StepValues = std::vector<std::pair<std::int64_t, double>>;

std::string scalar_events(const StepValues& points, const std::string& tag = "train/loss", double time = 100) {
  std::ostringstream out;
  detail::EventWriter writer(out, time);
  for (const auto& [step, value] : points)
    writer.write({.wall_time = time + static_cast<double>(step), .step = step, .tag = tag, .value = value});
  return out.str();
}

std::string tfrecord(const std::string& data) {
  const auto masked = [](std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; };
  const auto bytes = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::string size = bytes(std::uint64_t{data.size()});
  return size + bytes(masked(crc32c(size))) + data + bytes(masked(crc32c(data)));
}

std::string integer_field(int number, std::uint64_t value) {
  std::string text;
  append_key(text, number, Wire::varint);
  append_varint(text, value);
  return text;
}

std::string bytes_field(int number, const std::string& bytes) {
  std::string text;
  append_bytes(text, number, bytes);
  return text;
}

std::string real_field(int number, double value) {
  std::string text;
  append_key(text, number, Wire::fixed64);
  return text + std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// As SummaryWriter(purge_step=) writes it.
std::string session_start(std::int64_t step) {
  return tfrecord(integer_field(2, static_cast<std::uint64_t>(step)) + bytes_field(7, integer_field(1, 1)));
}

/// A summary of the plugin hparams.
std::string hparams_event(const std::string& tag, const std::string& plugin_data) {
  const std::string metadata = bytes_field(1, bytes_field(1, "hparams") + bytes_field(2, plugin_data));
  return tfrecord(bytes_field(5, bytes_field(1, bytes_field(1, tag) + bytes_field(9, metadata))));
}

std::string hparam(const std::string& name, const std::string& value) {
  return bytes_field(1, bytes_field(1, name) + bytes_field(2, value));
}

std::string session_settings() {
  const std::string session = hparam("batch_size", real_field(2, 16)) + hparam("lr", real_field(2, 0.003)) +
                              hparam("optimizer", bytes_field(3, "adam")) + hparam("nesterov", integer_field(4, 1)) +
                              bytes_field(4, "a group") + real_field(5, 100);
  return hparams_event("_hparams_/experiment", bytes_field(2, bytes_field(6, "digits"))) +
         hparams_event("_hparams_/session_start_info", bytes_field(3, session));
}

std::string session_end(std::uint64_t status) {
  return hparams_event("_hparams_/session_end_info", bytes_field(4, integer_field(1, status)));
}

fs::path event_file(const Folder& folder, const std::string& name, const std::string& text) {
  fs::create_directories(folder.file(name).parent_path());
  return written(folder, name, text);
}

StepValues values_of(const store::CompleteRun& run, const std::string& series = "loss") {
  StepValues values;
  for (const store::Point& point : points_of(run, series))
    values.emplace_back(point.step, point.value);
  return values;
}

} // namespace

class TestImportTensorboard : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// A run that goes on from a checkpoint writes steps again: what was written of them and of later ones is void.
  void stepsThatFall() {
    const Folder folder, database;
    const auto file = folder.file("events.out.tfevents.1.host");
    event_file(folder, "events.out.tfevents.1.host", scalar_events({{1, 1}, {2, 2}, {3, 3}, {4, 4}}));
    import_into(database, file);
    event_file(folder, "events.out.tfevents.1.host",
               scalar_events({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {2, 20}, {3, 30}, {5, 50}}));
    const auto read = read_runs_of(file);
    QCOMPARE(values_of(read.runs.at(0)), (StepValues{{1, 1}, {2, 20}, {3, 30}, {5, 50}}));
    QCOMPARE(read.remarks, std::vector<std::string>{folder.path().string() +
                                                    ": values of steps that a restart made again were left out: 2"});
    QCOMPARE(import_into(database, file).extended, std::vector<std::int64_t>{1});
    const store::RunReader reader(database.file());
    const auto points = reader.series(1, "loss");
    QVERIFY(points.size() == 4 && points[1].value == 20 && points[3].step == 5);
    QCOMPARE(reader.check(), std::vector<std::string>{});
  }

  void otherTagsMayLagBehind() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1",
               scalar_events({{1, 1}, {2, 2}, {3, 3}}) + scalar_events({{1, 5}, {2, 6}}, "val/loss").substr(40));
    const auto read = read_runs_of(folder.path());
    QCOMPARE(values_of(read.runs.at(0)).size(), std::size_t{3});
    QVERIFY(read.remarks.empty());
  }

  void aSessionThatStartsAgain() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1",
               scalar_events({{1, 1}, {2, 2}, {3, 3}}) + scalar_events({{3, 9}}, "f1"));
    event_file(folder, "events.out.tfevents.2", session_start(3) + scalar_events({{4, 40}}));
    const auto read = read_runs_of(folder.path());
    QCOMPARE(values_of(read.runs.at(0)), (StepValues{{1, 1}, {2, 2}, {4, 40}}));
    QVERIFY(values_of(read.runs.at(0), "f1").empty()); // of all tags
    QVERIFY(read.remarks.at(0).ends_with("left out: 2"));
  }

  void settingsOfTheHparamsPlugin() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1",
               scalar_events({{1, 1}}) + session_settings() + session_end(1) + scalar_events({{2, 2}}));
    const auto read = read_runs_of(folder.path());
    const store::CompleteRun& run = read.runs.at(0);
    const Json settings = parse_json(run.spec_json);
    QVERIFY(settings["batch"] == 16 && settings["lr"] == 0.003 && settings["optimizer"] == "adam");
    QVERIFY(settings["nesterov"] == true && settings["experiment"] == "digits");
    QCOMPARE(run.outcome.batch, std::int64_t{16});
    QCOMPARE(run.series.size(), std::size_t{2}); // loss and seconds
    QCOMPARE(run.outcome.status, telemetry::RunStatus::finished);
    event_file(folder, "events.out.tfevents.2", session_end(2));
    QCOMPARE(read_runs_of(folder.path()).runs.at(0).outcome.status, telemetry::RunStatus::failed);
  }

  /// SummaryWriter.add_scalars() makes a folder for each of its values, add_hparams() one for settings and results.
  void foldersThatArePartsOfARun() {
    const Folder folder;
    event_file(folder, "run/events.out.tfevents.1", scalar_events({{1, 7}}, "other"));
    event_file(folder, "run/loss_train/events.out.tfevents.1", scalar_events({{1, 1}, {2, 2}}, "loss"));
    event_file(folder, "run/loss_val/events.out.tfevents.1", scalar_events({{2, 3}}, "loss"));
    event_file(folder, "run/a_b_x/events.out.tfevents.1", scalar_events({{1, 4}}, "a/b"));
    event_file(folder, "run/a_b_x/y/events.out.tfevents.1", scalar_events({{1, 5}}, "a/b"));
    event_file(folder, "run/1700000000.5/events.out.tfevents.1",
               session_settings() + scalar_events({{0, 0.75}}, "hparam/accuracy"));
    event_file(folder, "run/version_1/events.out.tfevents.1", scalar_events({{1, 8}}, "loss")); // a run of its own
    const auto read = read_runs_of(folder.path());
    QVERIFY(read.remarks.empty());
    QCOMPARE(read.runs.size(), std::size_t{2});
    const store::CompleteRun& run = read.runs[0];
    QCOMPARE(run.name, std::string("run"));
    QCOMPARE(values_of(run), (StepValues{{1, 1}, {2, 2}}));
    QCOMPARE(values_of(run, "validation_loss"), (StepValues{{2, 3}}));
    QCOMPARE(values_of(run, "a/b/x"), (StepValues{{1, 4}}));
    QCOMPARE(values_of(run, "a/b/x/y"), (StepValues{{1, 5}}));
    QCOMPARE(values_of(run, "hparam/accuracy"), (StepValues{{0, 0.75}}));
    QCOMPARE(values_of(run, "other"), (StepValues{{1, 7}}));
    QVERIFY(parse_json(run.spec_json)["optimizer"] == "adam");
    QCOMPARE(read.runs[1].name, std::string("version_1"));
    // One of them alone is a run.
    QCOMPARE(read_runs_of(folder.file("run/loss_val")).runs.at(0).name, std::string("loss_val"));
  }

  void whatARunLoggedItselfIsKept() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1", scalar_events({{1, 7}}, "train/loss"));
    event_file(folder, "loss_train/events.out.tfevents.1", scalar_events({{1, 1}}, "loss"));
    const auto read = read_runs_of(folder.path());
    QCOMPARE(values_of(read.runs.at(0)), (StepValues{{1, 7}}));
    QCOMPARE(values_of(read.runs.at(0), "loss/loss_train"), (StepValues{{1, 1}}));
  }

  void sessionsOfASearchAreRuns() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1", scalar_events({{1, 7}}));
    for (const char* name : {"a", "b"})
      event_file(folder, std::string(name) + "/events.out.tfevents.1", session_settings() + scalar_events({{1, 1}}));
    QCOMPARE(read_runs_of(folder.path()).runs.size(), std::size_t{3});
  }

  void theFollowerNamesPartsAlike() {
    const Folder folder;
    event_file(folder, "events.out.tfevents.1", scalar_events({{1, 7}}, "other"));
    event_file(folder, "loss_train/events.out.tfevents.1", scalar_events({{1, 1}}, "loss"));
    event_file(folder, "loss_val/events.out.tfevents.1", scalar_events({{2, 3}}, "loss"));
    std::map<std::string, double> values;
    const auto importer = importer_of(folder.path());
    importer->follow(folder.path())->poll([&](const AddedPoint& point) { values[point.series] = point.value; }, true);
    QCOMPARE(values, (std::map<std::string, double>{{"loss", 1}, {"other", 7}, {"validation_loss", 3}}));
  }

  void damageCostsItself_data() {
    QTest::addColumn<int>("at");
    QTest::newRow("size") << 0;
    QTest::newRow("checksum of the size") << 9;
    QTest::newRow("data") << 20;
    QTest::newRow("checksum of the data") << -1;
  }
  void damageCostsItself() {
    QFETCH(int, at);
    const Folder folder;
    StepValues points;
    for (std::int64_t step = 1; step <= 5000; ++step) // more than the bytes that are searched at a time
      points.emplace_back(step, 1);
    std::string text = scalar_events(points);
    const std::size_t two = scalar_events({{1, 1}, {2, 1}}).size(),
                      three = scalar_events({{1, 1}, {2, 1}, {3, 1}}).size();
    text[at < 0 ? three - 1 : two + static_cast<std::size_t>(at)] ^= 0x55;
    const auto file = event_file(folder, "events.out.tfevents.1", text);
    const auto read = read_runs_of(file);
    const auto values = values_of(read.runs.at(0));
    QCOMPARE(values.size(), std::size_t{4999});
    QVERIFY(values[1].first == 2 && values[2].first == 4);
    QCOMPARE(read.remarks,
             std::vector<std::string>{file.string() + ": damaged records were left out: 1, the first at byte " +
                                      std::to_string(two)});
  }

  void aLongDamageIsSkipped() {
    const Folder folder;
    const std::string begin = scalar_events({{1, 1}}), whole = scalar_events({{1, 1}, {2, 2}});
    event_file(folder, "events.out.tfevents.1", begin + std::string(200'000, 'x') + whole.substr(begin.size()));
    const auto read = read_runs_of(folder.path());
    QCOMPARE(values_of(read.runs.at(0)), (StepValues{{1, 1}, {2, 2}}));
    QCOMPARE(read.remarks.size(), std::size_t{1});
  }

  void oneDamagedFileKeepsNoOtherFromBeingRead() {
    const Folder folder;
    const auto bad = event_file(folder, "a/events.out.tfevents.1", "hello, this is none of these files");
    event_file(folder, "b/events.out.tfevents.1", scalar_events({{1, 1}}));
    const auto read = read_runs_of(folder.path());
    QCOMPARE(read.runs.size(), std::size_t{1});
    QCOMPARE(read.remarks, std::vector<std::string>{bad.string() + ": not a TensorBoard event file; it was left out"});
    QVERIFY(refusal(bad.parent_path()).contains("not a TensorBoard event file"));
  }

  /// A size is believed only as far as the file goes.
  void aLargeSizeTakesNoMemory() {
    const Folder folder;
    const std::uint64_t size = 1ULL << 30;
    const auto masked = [](std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; };
    const std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
    const std::uint32_t crc = masked(crc32c(bytes));
    std::istringstream in(bytes + std::string(reinterpret_cast<const char*>(&crc), sizeof crc) + "short");
    detail::EventReader reader(in);
    int events = 0;
    reader.read([&](const detail::ScalarEvent&) { ++events; });
    QVERIFY(events == 0 && reader.position() == 0);
    QVERIFY(!reader.skip_damaged());
  }

  void damagedBytes() {
    const std::string whole = scalar_events({{1, 1}}) + session_settings() + scalar_events({{2, 2}, {3, 3}});
    std::srand(3);
    for (int round = 0; round < 500; ++round) {
      std::string text = whole;
      for (int i = 0; i < 1 + round % 4; ++i)
        text[static_cast<std::size_t>(std::rand()) % text.size()] = static_cast<char>(std::rand());
      const Folder folder;
      try {
        const auto read = read_runs_of(event_file(folder, "events.out.tfevents.1", text));
        QVERIFY(values_of(read.runs.at(0)).size() <= 3);
      } catch (const Error& error) {
        QVERIFY(std::string(error.what()).find('\n') == std::string::npos);
      }
    }
  }
};

BATCHSCOPE_TEST(TestImportTensorboard)
#include "tst_import_tensorboard.moc"
