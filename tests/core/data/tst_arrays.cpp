#include <cmath>
#include <cstring>

#include <QTest>

#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

/// An array as NumPy writes it.
QByteArray npy(const char* type, const char* shape, const QByteArray& elements, const char* fortran = "False",
               char version = 1) {
  QByteArray header =
      QByteArray("{'descr': '") + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  const int before = version == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  QByteArray bytes = QByteArray("\x93NUMPY") + version + '\0';
  for (int i = 0; i < before - 8; ++i)
    bytes += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return bytes + header + elements;
}

template <typename Value> QByteArray elements(std::initializer_list<double> values, bool big_endian = false) {
  QByteArray bytes;
  for (const double each : values) {
    const auto value = static_cast<Value>(each);
    QByteArray one(reinterpret_cast<const char*>(&value), sizeof value);
    if (big_endian)
      std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

QByteArray little(quint64 number, int bytes) {
  QByteArray result;
  for (int i = 0; i < bytes; ++i)
    result += static_cast<char>(number >> 8 * i & 0xFF);
  return result;
}

struct Packed {
  QByteArray name, bytes;
  bool deflated = false;
};

/// A ZIP archive; `zip64`: with all sizes in zip64 records, as of entries above 4 GB.
QByteArray zip(const QList<Packed>& files, bool zip64 = false, quint32 wrong_crc = 0) {
  QByteArray archive, directory;
  for (const Packed& file : files) {
    QByteArray packed = file.bytes;
    if (file.deflated)
      packed = DataFiles::gzip(file.bytes).mid(10).chopped(8); // without gzip's header and trailer
    const quint64 crc =
        crc32(0, reinterpret_cast<const Bytef*>(file.bytes.data()), uInt(file.bytes.size())) ^ wrong_crc;
    const quint64 in_zip64 = 0xFFFFFFFF;
    const QByteArray extra = zip64 ? little(1, 2) + little(24, 2) + little(quint64(file.bytes.size()), 8) +
                                         little(quint64(packed.size()), 8) + little(quint64(archive.size()), 8)
                                   : QByteArray();
    const QByteArray common = little(20, 2) + little(0, 2) + little(file.deflated ? 8 : 0, 2) + little(0, 4) +
                              little(crc, 4) + little(zip64 ? in_zip64 : quint64(packed.size()), 4) +
                              little(zip64 ? in_zip64 : quint64(file.bytes.size()), 4) +
                              little(quint64(file.name.size()), 2) + little(quint64(extra.size()), 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                 little(zip64 ? in_zip64 : quint64(archive.size()), 4) + file.name + extra;
    archive += "PK\3\4" + common + file.name + extra + packed;
  }
  const quint64 at = quint64(archive.size()), size = quint64(directory.size()), count = quint64(files.size());
  archive += directory;
  if (zip64) {
    const quint64 end = quint64(archive.size());
    archive += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4) +
               little(count, 8) + little(count, 8) + little(size, 8) + little(at, 8);
    archive += "PK\6\7" + little(0, 4) + little(end, 8) + little(1, 4);
  }
  return archive + "PK\5\6" + little(0, 4) + little(zip64 ? 0xFFFF : count, 2) + little(zip64 ? 0xFFFF : count, 2) +
         little(zip64 ? 0xFFFFFFFF : size, 4) + little(zip64 ? 0xFFFFFFFF : at, 4) + little(7, 2) + "comment";
}

/// Three examples of two features, 1..6, with the classes 0, 1, 2.
QByteArray features() {
  return npy("<f4", "(3, 2)", elements<float>({1, 2, 3, 4, 5, 6}));
}
QByteArray classes() {
  return npy("<i8", "(3,)", elements<qint64>({0, 1, 2}));
}

/// Before they were standardized, from the mean and deviation of the column or channel.
std::vector<double> inputs_of(const Dataset& data) {
  const auto& sizes = data.shape().dimensions;
  std::int64_t width = 1;
  for (const std::int64_t size : sizes)
    width *= size;
  std::vector<float> values(static_cast<std::size_t>(data.size() * width));
  data.fill_inputs(numbers_below(data.size()), values.data());
  return {values.begin(), values.end()};
}

/// The columns 1 3 5 and 2 4 6, standardized.
bool are_standard_features(const std::vector<double>& values) {
  const double far = std::sqrt(1.5);
  const std::vector<double> expected{-far, -far, 0, 0, far, far};
  return std::equal(values.begin(), values.end(), expected.begin(), expected.end(),
                    [](double a, double b) { return std::abs(a - b) < 1e-6; });
}

} // namespace

class ArraysTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void readsEveryType_data() {
    QTest::addColumn<QByteArray>("array");
    const auto row = [](const char* type, const QByteArray& bytes) {
      QTest::newRow(type) << npy(type, "(3, 2)", bytes);
    };
    const std::initializer_list<double> values{1, 2, 3, 4, 5, 6};
    row("|u1", elements<quint8>(values));
    row("|i1", elements<qint8>(values));
    row("<u2", elements<quint16>(values));
    row(">u2", elements<quint16>(values, true));
    row("<i2", elements<qint16>(values));
    row(">i2", elements<qint16>(values, true));
    row("<u4", elements<quint32>(values));
    row(">i4", elements<qint32>(values, true));
    row("<i4", elements<qint32>(values));
    row("<i8", elements<qint64>(values));
    row(">i8", elements<qint64>(values, true));
    row("<u8", elements<quint64>(values));
    row("<f4", elements<float>(values));
    row(">f4", elements<float>(values, true));
    row("<f8", elements<double>(values));
    row(">f8", elements<double>(values, true));
    const QByteArray halves = QByteArray::fromHex("003C 0040 0042 0044 0045 0046");
    row("<f2", halves);
    row(">f2", QByteArray::fromHex("3C00 4000 4200 4400 4500 4600"));
    QTest::newRow("Fortran order") << npy("<f4", "(3, 2)", elements<float>({1, 3, 5, 2, 4, 6}), "True");
    QTest::newRow("version 2") << npy("<f4", "(3, 2)", elements<float>(values), "False", 2);
    QTest::newRow("gzip") << DataFiles::gzip(features());
  }
  void readsEveryType() {
    QFETCH(QByteArray, array);
    DataFiles files;
    const std::string text = "npy:" + files.write("x.npy", array) + "," + files.write("y.npy", classes());
    const DataSplit split = open_data(text + ",validation=0");
    QCOMPARE(split.train->shape().dimensions, std::vector<std::int64_t>{2});
    QCOMPARE(split.train->shape().classes, 3);
    QVERIFY(are_standard_features(inputs_of(*split.train)));
    std::vector<std::int64_t> labels(3);
    split.train->fill_labels(numbers_below(3), 1, labels.data());
    QCOMPARE(labels, (std::vector<std::int64_t>{0, 1, 2}));
  }

  void readsHalvesOfEverySize() {
    DataFiles files;
    // 1, -2, the smallest normal and subnormal numbers, the largest, and 0.
    const std::string x = files.write("x", npy("<f4", "(6, 1)", elements<float>({1, 2, 3, 4, 5, 6})));
    const std::string y = files.write("y", npy("<f2", "(6,)", QByteArray::fromHex("003C 00C0 0004 0100 FF7B 0000")));
    const DataSplit split = open_data("npy:" + x + "," + y + ",validation=0");
    QVERIFY(split.train->shape().target == ExampleShape::Target::number);
    std::vector<float> numbers(6);
    split.train->fill_numbers(numbers_below(6), numbers.data());
    QCOMPARE(numbers, (std::vector<float>{1, -2, std::ldexp(1.0F, -14), std::ldexp(1.0F, -24), 65504, 0}));
  }

  void readsImages_data() {
    QTest::addColumn<QByteArray>("array");
    QTest::addColumn<QString>("options");
    QTest::addColumn<int>("channels");
    // Image 1 is 0 in red and 100 in green, image 2 is 10 and 200.
    const std::initializer_list<double> first{0, 0, 100, 100, 10, 10, 200, 200};
    const std::initializer_list<double> last{0, 100, 0, 100, 10, 200, 10, 200};
    QTest::newRow("bytes") << npy("|u1", "(2, 2, 1, 2)", elements<quint8>(first)) << "" << 2;
    QTest::newRow("floats") << npy("<f4", "(2, 2, 1, 2)", elements<float>(first)) << "" << 2;
    QTest::newRow("channels first") << npy("|u1", "(2, 2, 1, 2)", elements<quint8>(first)) << ",channels=first" << 2;
    QTest::newRow("channels last") << npy("|u1", "(2, 1, 2, 2)", elements<quint8>(last)) << ",channels=last" << 2;
    QTest::newRow("floats, last") << npy("<f8", "(2, 1, 2, 2)", elements<double>(last)) << ",channels=last" << 2;
    QTest::newRow("grey") << npy("|u1", "(2, 1, 2)", elements<quint8>({0, 0, 10, 10})) << "" << 1;
  }
  void readsImages() {
    QFETCH(QByteArray, array);
    QFETCH(QString, options);
    QFETCH(int, channels);
    DataFiles files;
    const DataSplit split = open_data("npy:" + files.write("x", array) + "," +
                                      files.write("y", npy("|b1", "(2,)", elements<quint8>({1, 0}))) + ",validation=0" +
                                      options.toStdString());
    QCOMPARE(split.train->shape().dimensions, (std::vector<std::int64_t>{channels, 1, 2}));
    QCOMPARE(split.train->shape().classes, 2);
    std::vector<double> values = inputs_of(*split.train);
    QCOMPARE(values.size(), std::size_t(4 * channels));
    for (std::size_t i = 0; i < values.size(); ++i) // each channel has mean 0 and deviation 1
      QVERIFY(std::abs(values[i] - (i < values.size() / 2 ? -1 : 1)) < 1e-5);
  }

  void readsArchives_data() {
    QTest::addColumn<QByteArray>("archive");
    QTest::addColumn<QString>("options");
    const auto named = [](const char* x, const char* y, bool deflated) {
      return QList<Packed>{{x, features(), deflated}, {"other.npy", "no array", false}, {y, classes(), deflated}};
    };
    QTest::newRow("stored") << zip(named("x.npy", "y.npy", false)) << "";
    QTest::newRow("deflated") << zip(named("x.npy", "y.npy", true)) << "";
    QTest::newRow("other names") << zip(named("a b.npy", "labels.npy", true)) << ",inputs=a b,targets=labels";
    QTest::newRow("zip64") << zip(named("x.npy", "y.npy", true), true) << "";
  }
  void readsArchives() {
    QFETCH(QByteArray, archive);
    QFETCH(QString, options);
    DataFiles files;
    const DataSplit split =
        open_data("npz:" + files.write("data.npz", archive) + options.toStdString() + ",validation=0");
    QVERIFY(are_standard_features(inputs_of(*split.train)));
  }

  void refusesBadArrays_data() {
    QTest::addColumn<QByteArray>("inputs");
    QTest::addColumn<QByteArray>("targets");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QByteArray& x, const QByteArray& y, const char* words) {
      QTest::newRow(name) << x << y << words;
    };
    const QByteArray x = features(), y = classes();
    const QByteArray six = elements<float>({1, 2, 3, 4, 5, 6});
    row("empty", "", y, "x: the file is empty");
    row("text", "some text in a file", y, "x: is not an array in NumPy's format");
    row("another version", QByteArray(x).replace(6, 1, "\x09"), y, "version 9.0");
    row("short header", x.left(40), y, "x: ends at offset 40; expected the header of the array");
    row("header that lies", QByteArray(x).replace(8, 2, "\xFF\xFF"), y, "expected the header of the array");
    row("cut off", x.chopped(3), y, "the array of shape (3, 2) needs 24 bytes");
    row("one byte too many", x + "x", y, "has more data after");
    row("no dictionary", npy("<f4", "(3, 2", six), y, "header of the array is damaged");
    row("no number", npy("<f4", "(3, x2)", six), y, "header of the array is damaged");
    row("objects", npy("|O", "(3, 2)", six), y, "elements of type \"|O\"; accepted: b1, u1");
    row("complex numbers", npy("<c8", "(3, 1)", six), y, "elements of type \"<c8\"");
    row("nothing", npy("<f4", "(0, 2)", ""), y, "the shape of the array is (0, 2)");
    row("overflow", npy("<f4", "(4611686018427387904, 8)", six), y, "the shape of the array is");
    row("huge", npy("<f4", "(3, 99999999999999999)", six), y, "needs 1199999999999999988 bytes");
    row("huge in gzip", DataFiles::gzip(npy("<f4", "(3, 99999999999999999)", six)), y, "ends at the latest");
    row("one dimension", npy("<f4", "(6,)", six), y, "inputs have the shape (6,); accepted: (examples, features)");
    row("five dimensions", npy("<f4", "(3, 2, 1, 1, 1)", six), y, "inputs have the shape (3, 2, 1, 1, 1)");
    row("channels last", npy("|u1", "(3, 5, 5, 3)", QByteArray(225, 'x')), y, "add channels=last");
    row("not a number", npy("<f4", "(3, 2)", elements<float>({1, 2, NAN, 4, 5, 6})), y, "element 2 is nan");
    row("above 3e38", npy("<f8", "(3, 2)", elements<double>({1, 2, 1e39, 4, 5, 6})), y, "element 2 is 1e+39");
    row("fewer targets", x, npy("<i8", "(2,)", elements<qint64>({0, 1})), "y: has 2 targets, but there are 3 inputs");
    row("two numbers each", x, npy("<i8", "(3, 2)", elements<qint64>({0, 1, 0, 1, 0, 1})), "one number for each");
    row("negative classes", x, npy("<i2", "(3,)", elements<qint16>({0, -1, 2})), "whole numbers from -1 to 2");
    row("too many classes", x, npy("<i4", "(3,)", elements<qint32>({0, 1, 1000000})), "from 0 to 1000000");
    row("above all integers", x, npy("<u8", "(3,)", QByteArray(24, '\xFF')), "element 0 is above 9223372036854775807");
  }
  void refusesBadArrays() {
    QFETCH(QByteArray, inputs);
    QFETCH(QByteArray, targets);
    QFETCH(QString, words);
    DataFiles files;
    const QString message = DataFiles::refusal("npy:" + files.write("x", inputs) + "," + files.write("y", targets));
    QVERIFY2(message.contains(words), qPrintable(message));
  }

  void refusesBadArchives_data() {
    QTest::addColumn<QByteArray>("archive");
    QTest::addColumn<QString>("words");
    const QList<Packed> both{{"x.npy", features(), true}, {"y.npy", classes(), false}};
    const QByteArray good = zip(both);
    QTest::newRow("text") << QByteArray("some text") << "is not a ZIP archive";
    QTest::newRow("without its end") << good.left(good.size() - 40) << "is not a ZIP archive, or its end is missing";
    QTest::newRow("begins later") << good.mid(100) << "";
    QTest::newRow("wrong checksum") << zip(both, false, 5) << "its checksum is";
    QTest::newRow("another name") << zip({{"images.npy", features(), false}, {"y.npy", classes(), false}})
                                  << "no array \"x\"; choose the inputs with inputs=NAME; arrays are: images, y";
    QByteArray method = good;
    method[method.indexOf("PK\1\2") + 10] = 12;
    QTest::newRow("bzip2") << method << "packed with a method other than deflate";
    QByteArray encrypted = good;
    encrypted[encrypted.indexOf("PK\1\2") + 8] = 1;
    QTest::newRow("encrypted") << encrypted << "is encrypted";
    QByteArray lying = good;
    lying[lying.indexOf("PK\1\2") + 27] = 0x7F;
    QTest::newRow("a size that lies") << lying << "more bytes than it can hold";
    QByteArray name = good;
    name[name.indexOf("PK\1\2") + 29] = 0x7F;
    QTest::newRow("a name without an end") << name << "directory of the ZIP archive is damaged";
    QByteArray packed = good;
    packed[packed.indexOf("PK\3\4") + 60] = static_cast<char>(packed[packed.indexOf("PK\3\4") + 60] ^ 0x5A);
    QTest::newRow("damaged data") << packed << "x.npy): ";
  }
  void refusesBadArchives() {
    QFETCH(QByteArray, archive);
    QFETCH(QString, words);
    DataFiles files;
    const QString message = DataFiles::refusal("npz:" + files.write("data.npz", archive));
    QVERIFY2(message.contains(words) && message.startsWith(files.path("data.npz")), qPrintable(message));
  }
};

BATCHSCOPE_TEST(ArraysTest)
#include "tst_arrays.moc"
