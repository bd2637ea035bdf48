#include <cmath>

#include <QDir>
#include <QTest>

#include "core/data/data_pool.h"
#include "core/data/image_file.h"
#include "core/data/resize.h"
#include "test_program.h"
#include "tests/core/data/data_files.h"
#include "tests/core/data/image_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

/// A folder with files of images in it.
struct Folder : DataFiles {
  void add(const QString& name, const QByteArray& bytes) {
    QDir(path("")).mkpath(QFileInfo(name).path());
    write(qPrintable(name), bytes);
  }
  std::string text() const { return "images:" + path("").toStdString(); }
};

std::vector<std::int64_t> labels_of(const Dataset& data) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(data.size()));
  data.fill_labels(numbers_below(data.size()), 1, labels.data());
  return labels;
}

QByteArray colors() {
  return QByteArray::fromHex("FF0000 00FF00 0000FF 102030 000000 FFFFFF");
}

QByteArray read(const std::string& path, std::int64_t channels) {
  const auto pixels = read_image(path, read_image_form(path), channels);
  return {reinterpret_cast<const char*>(pixels.data()), static_cast<qsizetype>(pixels.size())};
}

/// The header of a PNG image without its pixels.
QByteArray header_alone(int width, int height) {
  const auto chunk = [](const QByteArray& name, const QByteArray& content) {
    QByteArray bytes = name + content;
    const auto number = [](quint32 value) {
      QByteArray four;
      for (int shift = 24; shift >= 0; shift -= 8)
        four += static_cast<char>(value >> shift & 0xFF);
      return four;
    };
    return number(quint32(content.size())) + bytes +
           number(quint32(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), uInt(bytes.size()))));
  };
  QByteArray sizes;
  for (const int side : {width, height})
    for (int shift = 24; shift >= 0; shift -= 8)
      sizes += static_cast<char>(side >> shift & 0xFF);
  return QByteArray::fromHex("89504E470D0A1A0A") + chunk("IHDR", sizes + QByteArray::fromHex("0802000000")) +
         chunk("IDAT", "");
}

} // namespace

class ImageFolderTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void decodesEveryFormat_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<bool>("color");
    QTest::addColumn<QByteArray>("pixels");
    QTest::addColumn<int>("far"); // at most from what was encoded
    const QByteArray greys = QByteArray::fromHex("0050 A0FF 1020");
    QTest::newRow("grey PNG") << png_of(2, 3, PNG_FORMAT_GRAY, greys) << false << greys << 0;
    QTest::newRow("PNG") << png_of(2, 3, PNG_FORMAT_RGB, colors()) << true << colors() << 0;
    QTest::newRow("PNG, transparent") << png_of(2, 3, PNG_FORMAT_RGBA,
                                                QByteArray::fromHex("FF000000 00FF0080 0000FFFF 102030FF 000000FF "
                                                                    "FFFFFF01"))
                                      << true << colors() << 0;
    QTest::newRow("grey JPEG") << jpeg_of(2, 3, JCS_GRAYSCALE, 1, greys) << false << greys << 2;
    const QByteArray red = QByteArray::fromHex("C02010").repeated(64);
    QTest::newRow("JPEG") << jpeg_of(8, 8, JCS_RGB, 3, red) << true << red << 2;
    QTest::newRow("progressive JPEG") << jpeg_of(8, 8, JCS_RGB, 3, red, true) << true << red << 2;
  }
  void decodesEveryFormat() {
    QFETCH(QByteArray, file);
    QFETCH(bool, color);
    QFETCH(QByteArray, pixels);
    QFETCH(int, far);
    DataFiles files;
    const std::string path = files.write("image", file);
    QCOMPARE(read_image_form(path).color, color);
    const QByteArray decoded = read(path, color ? 3 : 1);
    QCOMPARE(decoded.size(), pixels.size());
    for (qsizetype i = 0; i < pixels.size(); ++i)
      QVERIFY(std::abs(quint8(decoded[i]) - quint8(pixels[i])) <= far);
    if (color)
      return;
    const QByteArray three = read(path, 3);
    for (qsizetype i = 0; i < three.size(); ++i)
      QCOMPARE(three[i], decoded[i / 3]);
  }

  void takesOneFolderForEachClass() {
    Folder folder;
    folder.add("zebra/1.png", grey_png(2, 1, 30));
    folder.add("ant/b.JPG", jpeg_of(2, 1, JCS_GRAYSCALE, 1, QByteArray(2, 10)));
    folder.add("ant/a.png", grey_png(2, 1, 20));
    folder.add("ant/.hidden.png", "no image");
    folder.add(".thumbnails/a.png", "no image");
    folder.add("readme.txt", "beside the folders");
    const DataSplit split = open_data(folder.text() + ",validation=0");
    QCOMPARE(split.train->shape().dimensions, (std::vector<std::int64_t>{1, 1, 2}));
    QCOMPARE(split.train->shape().classes, 2);
    QCOMPARE(labels_of(*split.train), (std::vector<std::int64_t>{0, 0, 1}));
    std::vector<float> inputs(6);
    split.train->fill_inputs(numbers_below(3), inputs.data());
    QVERIFY(inputs[2] < inputs[0] && inputs[0] < inputs[4]); // by class, then by name: 20, 10, 30
    QVERIFY(std::abs(inputs[0]) < 1e-5);
  }

  void becomesColoredIfOneImageIs() {
    Folder folder;
    folder.add("a/1.png", png_of(2, 3, PNG_FORMAT_RGB, colors()));
    folder.add("b/1.png", grey_png(2, 3, 80));
    QCOMPARE(open_data(folder.text()).train->shape().dimensions, (std::vector<std::int64_t>{3, 3, 2}));
  }

  /// On all processors at once, each image at its place.
  void readsManyImages() {
    constexpr int count = test::sanitized ? 60 : 600;
    Folder folder;
    for (int i = 0; i < count; ++i)
      folder.add(QStringLiteral("%1/%2.png").arg(i % 3).arg(i, 4, 10, QChar('0')), grey_png(8, 8, i / 3 % 256));
    const DataSplit split = open_data(folder.text() + ",validation=0");
    QCOMPARE(split.train->size(), count);
    std::vector<float> inputs(count * 64);
    split.train->fill_inputs(numbers_below(count), inputs.data());
    for (int i = 0; i < count; ++i)
      QCOMPARE(inputs[std::size_t(i) * 64], inputs[std::size_t(i % (count / 3)) * 64 + 63]);
    QVERIFY(inputs[0] < inputs[64] && inputs[64] < inputs[128]);
  }

  void resizesOnRequest() {
    Folder folder;
    folder.add("a/1.png", grey_png(40, 20, 10));
    folder.add("b/1.png", grey_png(8, 8, 250));
    const QString refusal = DataFiles::refusal(folder.text());
    QVERIFY2(refusal.contains("b/1.png: 8 x 8 pixels, but ") && refusal.contains("a/1.png has 40 x 20"),
             qPrintable(refusal));
    const DataSplit split = open_data(folder.text() + ",size=16x12,validation=0");
    QCOMPARE(split.train->shape().dimensions, (std::vector<std::int64_t>{1, 12, 16}));
    std::vector<float> inputs(2 * 16 * 12);
    split.train->fill_inputs(numbers_below(2), inputs.data());
    for (int i = 0; i < 16 * 12; ++i) // of one grey they stay
      QVERIFY(inputs[i] == inputs[0] && inputs[192 + i] == inputs[192]);
    for (const char* size : {"16", "x16", "16x", "0x16", "16x99999", "16x16x3"})
      QVERIFY(DataFiles::refusal(folder.text() + ",size=" + size).contains("size"));
  }

  void resizesByAreaAndCutsTheSides() {
    const auto resize = [](std::vector<std::uint8_t> pixels, ImageSize from, ImageSize to) {
      return resized(pixels, from, 1, to);
    };
    // The middle 2 x 2 of 4 x 2, as it is.
    QCOMPARE(resize({9, 1, 2, 9, 9, 3, 4, 9}, {4, 2}, {2, 2}), (std::vector<std::uint8_t>{1, 2, 3, 4}));
    // A triangle as wide as four pixels: 1/8 3/8 3/8 1/8 inside, and what is there of it at the edge.
    QCOMPARE(resize({0, 0, 0, 0, 80, 80, 80, 80, 0, 0, 0, 0, 80, 80, 80, 80}, {8, 2}, {4, 1})[1], 10);
    QCOMPARE(resize({0, 0, 0, 0, 80, 80, 80, 80, 0, 0, 0, 0, 80, 80, 80, 80}, {8, 2}, {4, 1})[2], 70);
    // Growing interpolates between the middles of two pixels.
    QCOMPARE(resize({0, 100}, {2, 1}, {4, 2}), (std::vector<std::uint8_t>{0, 25, 75, 100, 0, 25, 75, 100}));
  }

  void refusesBadFolders_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("words");
    const QByteArray png = grey_png(8, 8, 5);
    QByteArray noise;
    for (int i = 0; i < 32 * 32 * 3; ++i)
      noise += static_cast<char>(i * i * 37 % 251);
    const QByteArray jpeg = jpeg_of(32, 32, JCS_RGB, 3, noise);
    const auto row = [](const char* what, const char* name, const QByteArray& file, const char* words) {
      QTest::newRow(what) << name << file << words;
    };
    row("text", "b/x.png", "text", "b/x.png: is neither a PNG nor a JPEG image");
    row("nothing", "b/x.png", "", "b/x.png: is empty");
    row("half of a PNG", "b/x.png", png.left(50), "b/x.png: ");
    row("a PNG's header", "b/x.png", png.left(20), "b/x.png: ");
    row("half of a JPEG", "b/x.jpg", jpeg.left(jpeg.size() - 30), "b/x.jpg: is damaged: ");
    row("a JPEG's header", "b/x.jpg", jpeg.left(60), "b/x.jpg: ");
    row("four colours", "b/x.jpg", jpeg_of(8, 8, JCS_CMYK, 4, QByteArray(256, 'x')), "b/x.jpg: CMYK colours");
    row("too many pixels", "b/x.png", header_alone(60'000, 60'000), "b/x.png: 60000 x 60000 pixels; accepted: up to");
    row("a folder below", "b/c/x.png", png, "b/c: is a folder in the folder of a class");
    row("one class", "a/x.png", png, "has one folder in it; accepted: one folder of images for each class");
    row("an empty class", "b/.hidden", png, "b: the folder of a class has no images");
  }
  void refusesBadFolders() {
    QFETCH(QString, name);
    QFETCH(QByteArray, file);
    QFETCH(QString, words);
    Folder folder;
    folder.add("a/1.png", grey_png(8, 8, 1));
    folder.add(name, file);
    const QString message = DataFiles::refusal(folder.text() + ",size=8x8");
    QVERIFY2(message.contains(words), qPrintable(message));
  }

  void refusesWhatIsNoFolder() {
    Folder folder;
    QVERIFY(DataFiles::refusal(folder.text()).contains("has no folder in it"));
    QVERIFY(DataFiles::refusal(folder.text() + "nowhere").contains("nowhere: No such file or directory"));
    QVERIFY(DataFiles::refusal("images:" + folder.write("file", "x")).contains("file: Not a directory"));
  }

  /// By their headers alone, before one is decoded.
  void refusesMoreThanMemory() {
    Folder folder;
    for (int i = 0; i < 1500; ++i)
      folder.add(QStringLiteral("%1/%2.png").arg(i % 2).arg(i), header_alone(16'000, 16'000));
    const QString message = DataFiles::refusal(folder.text());
    QVERIFY2(message.contains("1,500 images of 16000 x 16000 pixels need 1.2 TB of memory, and "), qPrintable(message));
    QVERIFY(message.contains("choose a smaller size with size=WxH"));
  }

  void aPoolReadsAChangedFolderAgain() {
    Folder folder;
    folder.add("a/1.png", grey_png(8, 8, 1));
    folder.add("b/1.png", grey_png(8, 8, 2));
    DataPool pool;
    const DataSplit first = pool.open(folder.text());
    pool.open(folder.text());
    QCOMPARE(pool.reads(), std::uint64_t{1});
    folder.add("b/1.png", png_of(8, 8, PNG_FORMAT_RGB, QByteArray(192, 'x'))); // another size
    QCOMPARE(pool.open(folder.text()).train->shape().dimensions.front(), 3);
    folder.add("b/2.png", grey_png(8, 8, 3));
    QCOMPARE(pool.train_examples(folder.text()), 3);
    QCOMPARE(pool.reads(), std::uint64_t{3});
  }
};

BATCHSCOPE_TEST(ImageFolderTest)
#include "tst_image_folder.moc"
