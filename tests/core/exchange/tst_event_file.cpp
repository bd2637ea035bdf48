#include "core/base/crc32c.h"
#include "core/exchange/detail/event_file.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <QByteArray>
#include <QTest>

#include "core/exchange/export.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::exchange;
using namespace batchscope::exchange::detail;
using batchscope::store::test::Folder;

namespace {

// As TensorBoard's own writer makes them.
const QByteArray golden_header = "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a";
const QByteArray golden_loss = "1a00000000000000129bd82d09000000000000f03f10072a0d0a0b0a046c6f7373150000003f862c9a2f";

std::vector<ScalarEvent> read_all(const std::string& text) {
  std::istringstream in(text);
  std::vector<ScalarEvent> events;
  EventReader(in).read([&](const ScalarEvent& event) { events.push_back(event); });
  return events;
}

std::string bytes_written(const std::vector<ScalarEvent>& events) {
  std::ostringstream out;
  EventWriter writer(out, 1);
  for (const ScalarEvent& event : events)
    writer.write(event);
  return out.str();
}

std::string error_of(const std::string& text) {
  try {
    read_all(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

} // namespace

class TestEventFile : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void goldenBytes();
  void whatIsWrittenIsRead();
  void tensorsAreReadToo();
  void aRecordThatIsCutOffIsWaitedFor();
  void damageIsNamed();
  void runsBecomeFolders();
  void whatIsNotKnownIsNoScalar();
};

void TestEventFile::goldenBytes() {
  const std::string bytes = bytes_written({{.wall_time = 1, .step = 7, .tag = "loss", .value = 0.5}});
  QCOMPARE(QByteArray::fromStdString(bytes).toHex(), golden_header + golden_loss);
}

void TestEventFile::whatIsWrittenIsRead() {
  const std::vector<ScalarEvent> events = {
      {.wall_time = 1.5, .step = 0, .tag = "a", .value = 1},
      {.wall_time = 2e9, .step = 1'000'000'000'000, .tag = "train/loss", .value = -3},
      {.wall_time = 3, .step = 5, .tag = "ü", .value = std::nan("")}};
  const auto back = read_all(bytes_written(events));
  QCOMPARE(back.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    QCOMPARE(back[i].wall_time, events[i].wall_time);
    QCOMPARE(back[i].step, events[i].step);
    QCOMPARE(back[i].tag, events[i].tag);
    QVERIFY(store::test::same(back[i].value, events[i].value));
  }
}

/// TensorFlow 2 and newer TensorBoard writers store scalars as tensors: dtype float, a content of four bytes or one
/// float_val.
void TestEventFile::tensorsAreReadToo() {
  const auto file_with = [](const QByteArray& tensor) {
    const QByteArray value = "0a0161" + QByteArray("42") +
                             QByteArray::number(tensor.size() / 2, 16).rightJustified(2, '0') +
                             tensor; // tag "a", field 8
    const QByteArray summary = "0a" + QByteArray::number(value.size() / 2, 16).rightJustified(2, '0') + value;
    const QByteArray event =
        "1003" + QByteArray("2a") + QByteArray::number(summary.size() / 2, 16).rightJustified(2, '0') + summary;
    const std::string data = QByteArray::fromHex(event).toStdString();
    const auto masked = [](std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; };
    std::string size(8, '\0');
    size[0] = static_cast<char>(data.size());
    const std::uint32_t head = masked(crc32c(size));
    const std::uint32_t tail = masked(crc32c(data));
    return QByteArray::fromHex(golden_header).toStdString() + size +
           std::string(reinterpret_cast<const char*>(&head), 4) + data +
           std::string(reinterpret_cast<const char*>(&tail), 4);
  };
  for (const QByteArray& tensor : {QByteArray("08012204") + "0000003f", QByteArray("0801") + "2a04" + "0000003f",
                                   QByteArray("08022208") + "000000000000e03f"}) {
    const auto events = read_all(file_with(tensor));
    QCOMPARE(events.size(), std::size_t{1});
    QCOMPARE(events[0].step, std::int64_t{3});
    QCOMPARE(events[0].value, 0.5);
  }
  QVERIFY(read_all(file_with("0807")).empty()); // a text
}

void TestEventFile::aRecordThatIsCutOffIsWaitedFor() {
  const std::string whole = bytes_written({{.step = 1, .tag = "a", .value = 1}, {.step = 2, .tag = "a", .value = 2}});
  const std::size_t one = bytes_written({{.step = 1, .tag = "a", .value = 1}}).size();
  for (std::size_t size = one; size < whole.size(); ++size)
    QCOMPARE(read_all(whole.substr(0, size)).size(), std::size_t{1});
  QCOMPARE(read_all(whole).size(), std::size_t{2});
  QVERIFY(read_all("").empty());
}

void TestEventFile::damageIsNamed() {
  const std::string whole = bytes_written({{.step = 1, .tag = "a", .value = 1}});
  QCOMPARE(error_of("step,loss\n1,0.5\n2,0.25\n"), std::string("not a TensorBoard event file"));
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const std::string error = error_of(damaged);
      // Nowhere does it read something else: what is left is an error.
      QVERIFY2(!error.empty(), qPrintable(QString("byte %1").arg(i)));
    }
}

void TestEventFile::runsBecomeFolders() {
  const Folder folder;
  store::RunStore store(folder.file());
  auto run = store.begin(store::test::new_run("../a/b: 50%"));
  for (std::int64_t step = 1; step <= 100; ++step)
    run->sink().record(store::test::record_at(step));
  run->sink().event(event_of(100, 0.1, "evaluation", "{}", {{"validation_accuracy", 0.75}}));
  run->finish(store::test::outcome(telemetry::RunStatus::finished));
  const store::RunReader reader(folder.file());
  const Folder target;
  export_to_file(reader, {run->id()}, "tensorboard", target.file("out"), false);
  const auto place = target.file("out") / "run-1 .._a_b_ 50%";
  QVERIFY(std::filesystem::is_directory(place));
  const auto file = std::filesystem::directory_iterator(place)->path();
  QVERIFY(file.filename().string().starts_with("events.out.tfevents."));
  std::map<std::string, std::vector<ScalarEvent>> series;
  std::ifstream in(file, std::ios::binary);
  EventReader(in).read([&](const ScalarEvent& event) { series[event.tag].push_back(event); });
  QCOMPARE(series.at("train/loss").size(), std::size_t{100});
  QCOMPARE(series.at("train/batch").back().value, 36.0);
  QCOMPARE(series.at("validation/accuracy").front().value, 0.75);
  for (const auto& [tag, events] : series)
    for (std::size_t i = 1; i < events.size(); ++i)
      QVERIFY(events[i].step > events[i - 1].step && events[i].wall_time >= events[i - 1].wall_time);
  // Never over something that is there, and nothing is left behind.
  QVERIFY_EXCEPTION_THROWN(export_to_file(reader, {run->id()}, "tensorboard", target.file("out"), true), Error);
  QCOMPARE(std::distance(std::filesystem::directory_iterator(target.path()), {}), std::ptrdiff_t{1});
}

void TestEventFile::whatIsNotKnownIsNoScalar() {
  const Folder folder;
  store::RunStore store(folder.file());
  auto run = store.begin(store::test::new_run("program"));
  telemetry::StepRecord record = telemetry::unknown_record(1);
  record.batch = 8;
  run->sink().record(record);
  run->finish(store::test::outcome(telemetry::RunStatus::finished));
  const Folder target;
  export_to_file(store::RunReader(folder.file()), {run->id()}, "tensorboard", target.file("out"), false);
  const auto file = std::filesystem::directory_iterator(target.file("out") / "run-1 program")->path();
  std::set<std::string> tags;
  std::ifstream in(file, std::ios::binary);
  EventReader(in).read([&](const ScalarEvent& event) { tags.insert(event.tag); });
  QCOMPARE(tags, (std::set<std::string>{"train/batch", "train/grad_norm", "train/loss"})); // these may really be NaN
}

BATCHSCOPE_TEST(TestEventFile)
#include "tst_event_file.moc"
