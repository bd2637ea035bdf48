#include <cmath>
#include <set>

#include <QTest>

#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

QByteArray big_endian(quint32 number) {
  QByteArray bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.append(static_cast<char>(number >> shift & 0xFF));
  return bytes;
}

QByteArray images(quint32 count, quint32 height, quint32 width, const QByteArray& pixels, quint32 magic = 0x803) {
  return big_endian(magic) + big_endian(count) + big_endian(height) + big_endian(width) + pixels;
}

QByteArray labels(quint32 count, const QByteArray& values, quint32 magic = 0x801) {
  return big_endian(magic) + big_endian(count) + values;
}

/// Image i has all its pixels at 10 * i, and label i % 3.
const int ten = 10;
QByteArray ten_images() {
  QByteArray pixels;
  for (int i = 0; i < ten; ++i)
    pixels += QByteArray(6, static_cast<char>(10 * i));
  return images(ten, 2, 3, pixels);
}
QByteArray ten_labels() {
  QByteArray values;
  for (int i = 0; i < ten; ++i)
    values += static_cast<char>(i % 3);
  return labels(ten, values);
}

} // namespace

class IdxTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void readsTheDemo() {
    const DataSplit demo = open_data("demo");
    QCOMPARE(demo.train->size(), 8000);
    QCOMPARE(demo.validation->size(), 2000);
    QCOMPARE(demo.train->shape().dimensions, (std::vector<std::int64_t>{1, 28, 28}));
    QCOMPARE(demo.train->shape().classes, 10);
    QCOMPARE(open_data("demo:validation=0").train->size(), 10000);
    // Known of these 10,000 images: how often each digit appears.
    std::vector<int> counts(10, 0);
    for (const auto& part : {demo.train, demo.validation}) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(part->size()));
      part->fill_labels(numbers_below(part->size()), 1, values.data());
      for (std::int64_t value : values)
        ++counts[static_cast<std::size_t>(value)];
    }
    QCOMPARE(counts, (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  }

  void takesValidationImagesOfTheirOwn() {
    DataFiles files;
    const std::string training =
        "idx:" + files.write("images", ten_images()) + "," + files.write("labels", ten_labels());
    const std::string others = ",validation-images=" + files.write("more", images(2, 2, 3, QByteArray(12, '\x05'))) +
                               ",validation-labels=" + files.write("more-labels", labels(2, QByteArray("\x03\x01", 2)));
    const DataSplit split = open_data(training + others);
    QCOMPARE(split.train->size(), 10);
    QCOMPARE(split.validation->size(), 2);
    QCOMPARE(split.train->shape().classes, 4);
    std::vector<std::int64_t> targets(2);
    split.validation->fill_labels(numbers_below(2), 1, targets.data());
    QCOMPARE(targets, (std::vector<std::int64_t>{3, 1}));
    // Scaled as the training images, of which the mean is 45.
    std::vector<float> inputs(12);
    split.validation->fill_inputs(numbers_below(2), inputs.data());
    for (const float input : inputs)
      QVERIFY(std::abs(input - (5 - 45) / std::sqrt(825.0)) < 1e-5);
    QCOMPARE(data::data_files(training + others).size(), std::size_t{4});
    QVERIFY(DataFiles::refusal(training + others + ",validation=0.5").contains("besides validation-images"));
    QVERIFY(DataFiles::refusal(training + others.substr(0, others.rfind(','))).contains("accepted: both"));
    const std::string wide = ",validation-images=" + files.write("wide", images(1, 1, 6, QByteArray(6, 'x'))) +
                             ",validation-labels=" + files.write("one", labels(1, QByteArray(1, '\x01')));
    QVERIFY(DataFiles::refusal(training + wide).contains("1 x 6 pixels; accepted: 2 x 3, as for training"));
  }

  void standardisesTheTrainingPart() {
    const DataSplit demo = open_data("demo");
    std::vector<float> pixels(8000 * 784);
    demo.train->fill_inputs(numbers_below(8000), pixels.data());
    double sum = 0;
    double squares = 0;
    for (float pixel : pixels) {
      sum += pixel;
      squares += double(pixel) * pixel;
    }
    const auto count = static_cast<double>(pixels.size());
    QVERIFY(std::abs(sum / count) < 1e-4);
    QVERIFY(std::abs(squares / count - 1) < 1e-4);
  }

  void readsPlainAndGzipAlike_data() {
    QTest::addColumn<QByteArray>("pixels");
    QTest::addColumn<QByteArray>("classes");
    const QByteArray p = ten_images();
    const QByteArray l = ten_labels();
    QTest::newRow("plain") << p << l;
    QTest::newRow("gzip") << DataFiles::gzip(p) << DataFiles::gzip(l);
    QTest::newRow("mixed") << p << DataFiles::gzip(l);
    QTest::newRow("two gzip members") << DataFiles::gzip(p.left(30)) + DataFiles::gzip(p.mid(30)) << l;
  }
  void readsPlainAndGzipAlike() {
    QFETCH(QByteArray, pixels);
    QFETCH(QByteArray, classes);
    DataFiles files;
    const std::string text = "idx:" + files.write("images", pixels) + "," + files.write("labels", classes);
    const DataSplit split = open_data(text);
    QCOMPARE(split.train->size(), 8);
    QCOMPARE(split.validation->size(), 2);
    QCOMPARE(split.train->shape().dimensions, (std::vector<std::int64_t>{1, 2, 3}));
    QCOMPARE(split.train->shape().classes, 3);

    const DataSplit whole = open_data(text + ",validation=0");
    QVERIFY(!whole.validation);
    const std::vector<std::int64_t> order{9, 0, 4};
    std::vector<float> inputs(18);
    std::vector<std::int64_t> targets(3);
    whole.train->fill_inputs(order, inputs.data());
    whole.train->fill_labels(order, 1, targets.data());
    QCOMPARE(targets, (std::vector<std::int64_t>{0, 0, 1}));
    // Mean of 0 10 ... 90 is 45, deviation sqrt(825).
    for (int i = 0; i < 3; ++i)
      for (int pixel = 0; pixel < 6; ++pixel)
        QVERIFY(std::abs(inputs[i * 6 + pixel] - (10.0 * double(order[i]) - 45) / std::sqrt(825.0)) < 1e-5);
    QCOMPARE(whole.train->layout(order).loss_terms, 3);
    QVERIFY_THROWS_EXCEPTION(Error, whole.train->fill_tokens(order, 1, targets.data()));
    QVERIFY_THROWS_EXCEPTION(Error, whole.train->fill_numbers(order, inputs.data()));
  }

  void splitsTheSameWayEveryTime() {
    const DataSplit a = open_data("demo");
    const DataSplit b = open_data("demo:validation=0.2");
    std::vector<float> first(100 * 784);
    std::vector<float> second(100 * 784);
    a.validation->fill_inputs(numbers_below(100), first.data());
    b.validation->fill_inputs(numbers_below(100), second.data());
    QCOMPARE(first, second);
  }

  void survivesImagesOfOneGrey() {
    DataFiles files;
    const DataSplit split = open_data("idx:" + files.write("i", images(5, 1, 1, QByteArray(5, 'x'))) + "," +
                                      files.write("l", labels(5, QByteArray(5, '\0'))));
    QCOMPARE(split.train->shape().classes, 2);
    float value = 1;
    split.train->fill_inputs(numbers_below(1), &value);
    QVERIFY(std::abs(value) < 1e-6F);
  }

  void refusesBadFiles_data() {
    QTest::addColumn<QByteArray>("pixels");
    QTest::addColumn<QByteArray>("classes");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("words");
    const QByteArray good = ten_images();
    const QByteArray l = ten_labels();
    const QByteArray packed = DataFiles::gzip(good);
    QByteArray damaged = packed;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55); // in the checksum
    const auto row = [](const char* name, const QByteArray& p, const QByteArray& c, const char* file,
                        const char* words) { QTest::newRow(name) << p << c << file << words; };
    row("empty", "", l, "images", "empty");
    row("text", "this is no IDX file at all", l, "images", "magic number at offset 0 is 0x74686973");
    row("labels as images", l, l, "images", "0x00000801");
    row("images as labels", good, good, "labels", "0x00000803");
    row("short header", good.left(9), l, "images", "the header (16 bytes)");
    row("truncated", good.left(70), l, "images", "ends at offset 70");
    row("one byte too many", good + "x", l, "images", "has more data after offset 76");
    row("truncated gzip", packed.left(packed.size() / 2), l, "images", "truncated");
    row("gzip without its trailer", packed.left(packed.size() - 8), l, "images", "truncated");
    row("gzip magic only", packed.left(3), l, "images", "truncated");
    row("gzip with a wrong checksum", damaged, l, "images", "damaged");
    row("gzip with more than announced", DataFiles::gzip(good + QByteArray(1000, 'x')), l, "images",
        "has more data after");
    row("second member too many", packed + DataFiles::gzip("more"), l, "images", "has more data after");
    row("no images", images(0, 2, 3, ""), labels(0, ""), "images", "0 images of 2 x 3 pixels");
    row("images of no size", images(10, 0, 3, ""), l, "images", "10 images of 0 x 3");
    row("overflow", images(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, "x"), l, "images", "too large");
    row("huge", images(0x7FFFFFFF, 65535, 1, "x"), l, "images", "ends at offset 17");
    row("huge in gzip", DataFiles::gzip(images(0x7FFFFFFF, 65535, 1, "x")), l, "images", "more than the file can hold");
    row("fewer labels", good, labels(9, QByteArray(9, 'x')), "labels", "9 labels, but there are 10 images");
    row("labels cut off", good, labels(10, QByteArray(9, 'x')), "labels", "ends at offset 17");
    row("too many labels", good, labels(10, QByteArray(11, 'x')), "labels", "has more data after offset 18");
  }
  void refusesBadFiles() {
    QFETCH(QByteArray, pixels);
    QFETCH(QByteArray, classes);
    QFETCH(QString, file);
    QFETCH(QString, words);
    DataFiles files;
    const QString message =
        DataFiles::refusal("idx:" + files.write("images", pixels) + "," + files.write("labels", classes));
    QVERIFY2(message.contains(words), qPrintable(message));
    QVERIFY2(message.startsWith(files.path(qPrintable(file)) + ":"), qPrintable(message));
  }

  void refusesWhatIsNoFile() {
    DataFiles files;
    const std::string good = files.write("labels", ten_labels());
    const std::string folder = files.path("").toStdString();
    QVERIFY(DataFiles::refusal("idx:" + folder + "nowhere," + good).contains("nowhere: no such file"));
    QVERIFY(DataFiles::refusal("idx:" + folder + "," + good).contains("is a directory"));
    QVERIFY(DataFiles::refusal("idx:/dev/zero," + good).contains("not a regular file"));
  }

  void takesTheDemoFromAnotherFolder() {
    QTemporaryDir empty;
    qputenv("BATCHSCOPE_RESOURCES", empty.path().toUtf8());
    const QString message = DataFiles::refusal("demo");
    qunsetenv("BATCHSCOPE_RESOURCES");
    QVERIFY2(message.contains(empty.path()) && message.contains("no such file"), qPrintable(message));
  }
};

BATCHSCOPE_TEST(IdxTest)
#include "tst_idx.moc"
