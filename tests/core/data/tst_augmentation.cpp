#include <set>

#include <QTest>

#include "core/data/augmentation.h"
#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

constexpr std::int64_t height = 5;
constexpr std::int64_t width = 6;
constexpr std::int64_t channels = 2;
const std::string grid_images = "synthetic:examples=100,shape=2x5x6,classes=3";

using Image = std::vector<float>;

Image input(const Dataset& data, std::int64_t index) {
  const auto& sizes = data.shape().dimensions;
  Image image(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
  data.fill_inputs(std::span(&index, 1), image.data());
  return image;
}

Image training_input(const Dataset& data, std::int64_t index, const AugmentationDraw& draw) {
  const auto& sizes = data.shape().dimensions;
  Image image(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
  data.fill_training_inputs(std::span(&index, 1), draw, image.data());
  return image;
}

/// The part of an image that begins at (left, top), mirrored or not.
Image part(const Image& image, std::int64_t left, std::int64_t top, std::int64_t part_width, std::int64_t part_height,
           bool mirrored) {
  Image result;
  for (std::int64_t channel = 0; channel < channels; ++channel)
    for (std::int64_t y = 0; y < part_height; ++y)
      for (std::int64_t x = 0; x < part_width; ++x) {
        const std::int64_t column = left + (mirrored ? part_width - 1 - x : x);
        result.push_back(image[static_cast<std::size_t>(
            (channel * height + std::clamp<std::int64_t>(top + y, 0, height - 1)) * width +
            std::clamp<std::int64_t>(column, 0, width - 1))]);
      }
  return result;
}

} // namespace

class AugmentationTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isOneOfTheViews_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("shift");
    QTest::addColumn<int>("side"); // 0: whole images
    QTest::addColumn<bool>("flips");
    QTest::newRow("flip") << "flip" << 0 << 0 << true;
    QTest::newRow("shift") << "shift:2" << 2 << 0 << false;
    QTest::newRow("crop") << "crop:4" << 0 << 4 << false;
    QTest::newRow("all") << "crop:4,flip,shift:1" << 1 << 4 << true;
  }
  /// Every training image is a view of its own image, and in some hundred draws every view is seen.
  void isOneOfTheViews() {
    QFETCH(QString, text);
    QFETCH(int, shift);
    QFETCH(int, side);
    QFETCH(bool, flips);
    const Image whole = input(*open_data(grid_images).train, 7);
    const DataSplit split = open_data(grid_images, {.augment = text.toStdString()});
    const std::int64_t w = side > 0 ? side : width, h = side > 0 ? side : height;
    QCOMPARE(split.train->shape().dimensions, (std::vector<std::int64_t>{channels, h, w}));
    std::set<Image> views;
    for (std::int64_t top = -shift; top <= height - h + shift; ++top)
      for (std::int64_t left = -shift; left <= width - w + shift; ++left)
        for (const bool mirrored : {false, true})
          if (!mirrored || flips)
            views.insert(part(whole, left, top, w, h, mirrored));
    std::set<Image> seen;
    for (std::int64_t epoch = 0; epoch < 1000; ++epoch) {
      const Image image = training_input(*split.train, 7, {.seed = 3, .epoch = epoch});
      QVERIFY(views.contains(image));
      seen.insert(image);
    }
    QCOMPARE(seen.size(), views.size());
  }

  void leavesValidationAlone() {
    const DataSplit plain = open_data(grid_images);
    const DataSplit changed = open_data(grid_images, {.augment = "flip,shift:2"});
    const DataSplit cropped = open_data(grid_images, {.augment = "flip,shift:2,crop:4"});
    QCOMPARE(cropped.validation->shape().dimensions, (std::vector<std::int64_t>{channels, 4, 4}));
    for (std::int64_t i = 0; i < plain.validation->size(); ++i) {
      const Image whole = input(*plain.validation, i);
      QCOMPARE(input(*changed.validation, i), whole);
      QCOMPARE(input(*cropped.validation, i), part(whole, 1, 0, 4, 4, false)); // the middle
    }
  }

  /// Whatever examples are beside it, and however often it is drawn.
  void dependsOnSeedEpochAndExampleAlone() {
    const DataSplit split = open_data(grid_images, {.augment = "flip,shift:2"});
    const AugmentationDraw draw{.seed = 5, .epoch = 2};
    const std::int64_t count = split.train->size();
    Image together(static_cast<std::size_t>(count * channels * height * width));
    split.train->fill_training_inputs(numbers_below(count), draw, together.data());
    Image one_by_one, other_epoch, other_seed;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto add = [&](Image& all, const AugmentationDraw& from) {
        const Image image = training_input(*split.train, i, from);
        all.insert(all.end(), image.begin(), image.end());
      };
      add(one_by_one, draw);
      add(other_epoch, {.seed = 5, .epoch = 3});
      add(other_seed, {.seed = 6, .epoch = 2});
    }
    QCOMPARE(one_by_one, together);
    QVERIFY(other_epoch != together && other_seed != together && other_seed != other_epoch);
  }

  void sharesTheData() {
    const auto plain = open_data("demo");
    const auto cropped = open_data("demo", {.augment = "crop:20"});
    QCOMPARE(cropped.train->checksum(), plain.train->checksum());
    std::vector<std::int64_t> a(100), b(100);
    plain.train->fill_labels(numbers_below(100), 1, a.data());
    cropped.train->fill_labels(numbers_below(100), 1, b.data());
    QCOMPARE(a, b);
  }

  void refusesBadTexts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* text, const char* words) { QTest::newRow(text) << text << words; };
    row("", "\"\" is not accepted; accepted: none, or some of flip");
    row("mirror", "\"mirror\" is not accepted");
    row("flip,", "\"\" is not accepted");
    row("flip:2", "\"flip:2\" is not accepted");
    row("none,flip", "\"none\" is not accepted");
    row("flip,flip", "flip is given twice");
    row("shift:1,shift:2", "shift is given twice");
    row("shift", "\"shift\" is not accepted");
    row("shift:0", "--augment shift");
    row("shift:-1", "--augment shift");
    row("crop:2.5", "--augment crop");
    row("crop:6", "too large for images of 6x5 pixels; accepted: crop up to 5");
    row("shift:5", "too large for images of 6x5 pixels");
  }
  void refusesBadTexts() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const QString message = DataFiles::refusal(grid_images, {.augment = text.toStdString()});
    QVERIFY2(message.contains(words), qPrintable(message));
  }

  void isForImagesOnly() {
    QVERIFY(DataFiles::refusal("synthetic:examples=10,vocabulary=5", {.augment = "flip"})
                .contains("the data has text; accepted: none"));
    QVERIFY(DataFiles::refusal("synthetic:examples=10,shape=5,classes=2", {.augment = "flip"})
                .contains("the data has rows of numbers"));
  }
};

BATCHSCOPE_TEST(AugmentationTest)
#include "tst_augmentation.moc"
