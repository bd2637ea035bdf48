#include <QTemporaryDir>
#include <QTest>

#include "checkpoint_test.h"
#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::checkpoint;

namespace {

std::string bytes_in(const Tensor& tensor) {
  return {tensor.data.get(), tensor.bytes};
}

/// A file with this header, and zeros as data.
std::string file_with(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + std::string(data, '\0');
}

} // namespace

class TestSafetensors : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void givesBackWhatWasWritten() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights.safetensors").toStdString();
    const std::vector<Tensor> tensors = {checkpoint::test::tensor("a.weight", "F32", {2, 1}, "12345678"),
                                         checkpoint::test::tensor("count", "I64", {}, "87654321"),
                                         checkpoint::test::tensor("none", "F16", {0, 3}, "")};
    write_safetensors(file, tensors, {{"format", "pt"}});
    write_safetensors(file, tensors, {{"format", "pt"}}); // in the place of the first
    const auto read = read_safetensors(file);
    QCOMPARE(read.size(), tensors.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      QCOMPARE(read[i].name, tensors[i].name);
      QCOMPARE(read[i].type, tensors[i].type);
      QCOMPARE(read[i].shape, tensors[i].shape);
      QCOMPARE(bytes_in(read[i]), bytes_in(tensors[i]));
    }
    QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
  }

  void refusesWhatLies_data() {
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<int>("data");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* header, int data, const char* says) {
      QTest::newRow(name) << QByteArray(header) << data << QString(says);
    };
    row("no JSON", "{\"a\":", 8, "no JSON object");
    row("a list", "[1]", 8, "no JSON object");
    row("too short for its shape", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
        "its shape takes 8 bytes");
    row("backwards", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "offsets 4 to 0");
    row("negative", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "no whole numbers");
    row("negative shape", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "no whole numbers");
    row("half an element", R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "no whole numbers");
    row("overflow", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
        "a shape that no file holds");
    row("unknown type", R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4, "\"F8_E4M3\"");
    row("beyond the file", R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 8, "cut off: 8 of 16 bytes");
    row("overlap",
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
        6, "within another");
    row("a gap", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "belong to none");
    row("more than the header says", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 9, "5 more bytes");
    row("an entry of another form", R"({"a":[1,2]})", 0, "\"a\" cannot be read");
    row("no offsets", R"({"a":{"dtype":"F32","shape":[1]}})", 4, "\"a\" cannot be read");
  }
  void refusesWhatLies() {
    QFETCH(QByteArray, header);
    QFETCH(int, data);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights").toStdString();
    checkpoint::test::write_bytes(file, file_with(header.toStdString(), static_cast<std::size_t>(data)));
    try {
      read_safetensors(file);
      QFAIL("was read");
    } catch (const Error& error) {
      const QString text = error.what();
      QVERIFY2(error.kind() == Error::Kind::input && text.contains(says) && !text.contains('\n') &&
                   text.startsWith(QString::fromStdString(file)),
               qPrintable(text));
    }
  }

  /// A file that is cut anywhere is refused.
  void refusesCutFiles() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("weights").toStdString();
    write_safetensors(file, {checkpoint::test::tensor("a", "F32", {2}, "12345678")}, {});
    const std::string whole = checkpoint::test::bytes_of(file);
    for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
      checkpoint::test::write_bytes(file, whole.substr(0, bytes));
      QVERIFY_EXCEPTION_THROWN(read_safetensors(file), Error);
    }
    QVERIFY_EXCEPTION_THROWN(read_safetensors(folder.filePath("none").toStdString()), Error);
  }

  void nothingIsLeftOfWhatCannotBeWritten() {
    const QTemporaryDir folder;
    QVERIFY_EXCEPTION_THROWN(write_safetensors(folder.filePath("no/folder").toStdString(), {}, {}), Error);
    QVERIFY(QDir(folder.path()).isEmpty());
  }
};

BATCHSCOPE_TEST(TestSafetensors)
#include "tst_safetensors.moc"
