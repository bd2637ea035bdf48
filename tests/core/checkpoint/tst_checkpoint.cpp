#include "core/checkpoint/checkpoint.h"

#include <QTemporaryDir>
#include <QTest>

#include "checkpoint_test.h"
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::checkpoint;
using namespace batchscope::checkpoint::test;

namespace {

std::string message_of(const std::filesystem::path& file) {
  try {
    read(file);
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "another kind of error";
  }
  return {};
}

/// The file with another header, and the checksum that belongs to it.
std::string with_header(const std::string& bytes, const std::function<void(Json&)>& change) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  Json header = parse_json(bytes.substr(sizeof length, length));
  change(header);
  std::string text = json_text(header);
  const std::uint64_t now = text.size();
  std::string result(reinterpret_cast<const char*>(&now), sizeof now);
  result += text + bytes.substr(sizeof length + length);
  const std::uint32_t checksum = crc32c(std::string_view(result).substr(0, result.size() - sizeof checksum));
  std::memcpy(result.data() + result.size() - sizeof checksum, &checksum, sizeof checksum);
  return result;
}

} // namespace

class TestCheckpoint : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    file_ = std::filesystem::path(folder_->path().toStdString()) / "step-7.safetensors";
  }

  void comesBackAsItWas() {
    const Checkpoint written = small_checkpoint();
    const std::uint64_t bytes = write(file_, written);
    QCOMPARE(static_cast<std::uint64_t>(std::filesystem::file_size(file_)), bytes);
    const Checkpoint read_back = read(file_);
    const Label label = read_label(file_);
    for (const Label& each : {read_back.label, label}) {
      QCOMPARE(each.run, written.label.run);
      QCOMPARE(each.step, written.label.step);
      QCOMPARE(each.events, written.label.events);
      QCOMPARE(each.spec_json, written.label.spec_json);
      QCOMPARE(each.data_checksum, written.label.data_checksum);
      QVERIFY(each.validation_loss == 0.1 && !each.validation_accuracy);
    }
    QCOMPARE(read_back.texts, written.texts);
    QCOMPARE(read_back.tensors.size(), written.tensors.size());
    for (const Tensor& tensor : written.tensors) {
      const Tensor& now = read_back.tensor(tensor.name);
      QCOMPARE(now.type, tensor.type);
      QCOMPARE(now.shape, tensor.shape);
      QCOMPARE(std::string(now.data.get(), now.bytes), std::string(tensor.data.get(), tensor.bytes));
    }
    QVERIFY_THROWS_EXCEPTION(Error, read_back.text("no such part"));
    QVERIFY_THROWS_EXCEPTION(Error, read_back.tensor("no such part"));
  }

  /// Any program that reads safetensors can read the weights.
  void isASafetensorsFile() {
    write(file_, small_checkpoint());
    const std::string bytes = bytes_of(file_);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    QCOMPARE((sizeof length + length) % 8, std::uint64_t{0});
    const Json header = parse_json(bytes.substr(sizeof length, length));
    for (const auto& [name, text] : header["__metadata__"].items())
      QVERIFY2(text.is_string(), name.c_str());
    std::uint64_t end = 0; // the tensors fill the data without gaps
    for (const auto& [name, entry] : header.items())
      if (name != "__metadata__") {
        QCOMPARE(entry["data_offsets"][0].get<std::uint64_t>(), end);
        end = entry["data_offsets"][1].get<std::uint64_t>();
      }
    QCOMPARE(sizeof length + length + end, static_cast<std::uint64_t>(bytes.size()));
    QCOMPARE(header["parameters.0"]["dtype"].get<std::string>(), std::string("F32"));
  }

  void everyCutAndEveryChangedByteIsRefused() {
    write(file_, small_checkpoint());
    const std::string bytes = bytes_of(file_);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      write_bytes(file_, bytes.substr(0, size));
      QVERIFY2(message_of(file_).starts_with("checkpoint "), qPrintable(QString::number(size)));
    }
    write_bytes(file_, bytes + '\0');
    QVERIFY(message_of(file_).ends_with("damaged (checksum)"));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      write_bytes(file_, changed);
      const std::string message = message_of(file_);
      QVERIFY2(message.starts_with("checkpoint ") && message.find('\n') == std::string::npos,
               qPrintable(QStringLiteral("byte %1: %2").arg(i).arg(QString::fromStdString(message))));
    }
  }

  void otherFilesAreRefused_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("a text") << QByteArray("step,loss\n1,2\n3,4\n5,6\n7,8\n9,10\n");
    QTest::newRow("zeros") << QByteArray(4096, '\0');
    QTest::newRow("a huge header") << QByteArray(8, '\x7f') + QByteArray(100, ' ');
    QTest::newRow("other safetensors") << QByteArray("\x0a\0\0\0\0\0\0\0{\"a\": [] }", 18);
    QTest::newRow("metadata of another form") << QByteArray("\x16\0\0\0\0\0\0\0{\"__metadata__\": \"me\"}", 30);
  }
  void otherFilesAreRefused() {
    QFETCH(QByteArray, content);
    write_bytes(file_, content.toStdString());
    QVERIFY(message_of(file_).starts_with("checkpoint "));
    QVERIFY_THROWS_EXCEPTION(Error, read_label(file_));
    std::filesystem::remove(file_);
    QVERIFY(message_of(file_).starts_with("checkpoint "));
  }

  /// The checksum of these is right: someone wrote them so.
  void offsetsThatLieAreRefused() {
    write(file_, small_checkpoint());
    const std::string bytes = bytes_of(file_);
    const auto refuses = [&](const std::function<void(Json&)>& change) {
      write_bytes(file_, with_header(bytes, change));
      return message_of(file_).find("parameters.0") != std::string::npos;
    };
    QVERIFY(refuses([](Json& header) { header["parameters.0"]["data_offsets"] = {8, 12}; }));
    QVERIFY(refuses([](Json& header) { header["parameters.0"]["data_offsets"] = {24, 0}; }));
    QVERIFY(refuses([](Json& header) { header["parameters.0"]["shape"] = {2, 4}; }));
    QVERIFY(refuses([](Json& header) { header["parameters.0"]["shape"] = {1ULL << 62, 1ULL << 62}; }));
    QVERIFY(refuses([](Json& header) { header["parameters.0"]["dtype"] = "F99"; }));
    write_bytes(file_, with_header(bytes, [](Json& header) { header["__metadata__"]["version"] = "2"; }));
    QVERIFY(message_of(file_).ends_with("a newer version of this program wrote it"));
    write_bytes(file_, with_header(bytes, [](Json& header) { header["scalar"].erase("shape"); }));
    QVERIFY(message_of(file_).find("damaged") != std::string::npos);
    write_bytes(file_, with_header(bytes, [](Json&) {}));
    QCOMPARE(message_of(file_), std::string());
  }

  void aFullDiskLeavesWhatWasThere() {
    write(file_, small_checkpoint());
    const std::string before = bytes_of(file_);
    Checkpoint larger = small_checkpoint();
    larger.tensors.push_back(tensor("large", "U8", {1'000'000}, std::string(1'000'000, 'x')));
    {
      const store::test::FileSizeLimit disk(100'000);
      QVERIFY_THROWS_EXCEPTION(Error, write(file_, larger));
    }
    QCOMPARE(bytes_of(file_), before);
    QCOMPARE(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
    write(file_, larger); // once there is room
    QCOMPARE(read(file_).tensors.size(), larger.tensors.size());
  }

  void aFileThatCannotBeWrittenLeavesNothing() {
    const std::filesystem::path nowhere = file_ / "below" / "a file";
    write(file_, small_checkpoint());
    const std::string before = bytes_of(file_);
    QVERIFY_THROWS_EXCEPTION(Error, write(nowhere, small_checkpoint()));
    QCOMPARE(bytes_of(file_), before);
    QCOMPARE(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
  }

private:
  std::unique_ptr<QTemporaryDir> folder_;
  std::filesystem::path file_;
};

BATCHSCOPE_TEST(TestCheckpoint)
#include "tst_checkpoint.moc"
