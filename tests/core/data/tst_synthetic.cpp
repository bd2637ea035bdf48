#include <cmath>
#include <map>
#include <set>

#include <QTest>

#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

using Ids = std::vector<std::int64_t>;

Ids labels_of(const Dataset& data, const Ids& indices, std::int64_t length = 1) {
  Ids labels(indices.size() * static_cast<std::size_t>(length));
  data.fill_labels(indices, length, labels.data());
  return labels;
}

std::vector<float> inputs_of(const Dataset& data, const Ids& indices) {
  std::size_t size = indices.size();
  for (std::int64_t dimension : data.shape().dimensions)
    size *= static_cast<std::size_t>(dimension);
  std::vector<float> inputs(size);
  data.fill_inputs(indices, inputs.data());
  return inputs;
}

/// Share of the validation examples that lie nearest to the mean of their class's training examples.
double nearest_mean_accuracy(const DataSplit& split) {
  const Ids train = numbers_below(split.train->size());
  const Ids train_labels = labels_of(*split.train, train);
  const std::vector<float> x = inputs_of(*split.train, train);
  const std::size_t size = x.size() / train.size();
  std::vector<std::vector<double>> means(static_cast<std::size_t>(split.train->shape().classes),
                                         std::vector<double>(size, 0));
  std::vector<double> counts(means.size(), 0);
  for (std::size_t i = 0; i < train.size(); ++i) {
    const auto label = static_cast<std::size_t>(train_labels[i]);
    ++counts[label];
    for (std::size_t j = 0; j < size; ++j)
      means[label][j] += x[i * size + j];
  }
  const Ids held = numbers_below(split.validation->size());
  const Ids held_labels = labels_of(*split.validation, held);
  const std::vector<float> v = inputs_of(*split.validation, held);
  int right = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    std::size_t best = 0;
    double best_distance = INFINITY;
    for (std::size_t c = 0; c < means.size(); ++c) {
      double distance = 0;
      for (std::size_t j = 0; j < size; ++j)
        distance += std::pow(v[i * size + j] - means[c][j] / std::max(1.0, counts[c]), 2);
      if (distance < best_distance) {
        best_distance = distance;
        best = c;
      }
    }
    right += static_cast<std::int64_t>(best) == held_labels[i] ? 1 : 0;
  }
  return right / static_cast<double>(held.size());
}

} // namespace

class SyntheticTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void makesImagesAndFeaturesThatCanBeLearnt() {
    const DataSplit images = open_data("synthetic:examples=1000,shape=3x12x16,classes=10");
    QCOMPARE(images.train->size(), 800);
    QCOMPARE(images.validation->size(), 200);
    QCOMPARE(images.train->shape().input, ExampleShape::Input::image);
    QCOMPARE(images.train->shape().dimensions, (Ids{3, 12, 16}));
    QVERIFY(nearest_mean_accuracy(images) > 0.9);
    const DataSplit features = open_data("synthetic:examples=1000,shape=20,classes=4,validation=0.5");
    QCOMPARE(features.validation->size(), 500);
    QCOMPARE(features.train->shape().input, ExampleShape::Input::features);
    QVERIFY(nearest_mean_accuracy(features) > 0.9);
  }

  void spreadsClassesEvenlyAndVariesExamples() {
    const DataSplit data = open_data("synthetic:examples=10000,shape=1x4x4,classes=5");
    std::vector<int> counts(5, 0);
    for (std::int64_t label : labels_of(*data.train, numbers_below(8000)))
      ++counts.at(static_cast<std::size_t>(label));
    for (int count : counts)
      QVERIFY2(count > 1450 && count < 1750, qPrintable(QString::number(count)));
    const std::vector<float> x = inputs_of(*data.train, numbers_below(200));
    std::set<std::vector<float>> distinct;
    for (std::size_t i = 0; i < 200; ++i)
      distinct.insert(
          std::vector<float>(x.begin() + static_cast<long>(i) * 16, x.begin() + static_cast<long>(i + 1) * 16));
    QCOMPARE(distinct.size(), std::size_t{200});
  }

  void givesTheSameExampleWhereverItStands() {
    const DataSplit data = open_data("synthetic:examples=1000000000000,shape=1x28x28,classes=10");
    // No more than an evaluation can go through.
    QCOMPARE(data.validation->size(), 100'000);
    QCOMPARE(data.train->size(), 999'999'900'000);
    const Ids far{999'999'899'999, 5, 999'999'899'999};
    const std::vector<float> x = inputs_of(*data.train, far);
    QVERIFY(std::equal(x.begin(), x.begin() + 784, x.begin() + 2 * 784));
    QVERIFY(!std::equal(x.begin(), x.begin() + 784, x.begin() + 784));
  }

  void makesTokensOfWhichMostFollowARule() {
    const DataSplit data = open_data("synthetic:examples=1000,vocabulary=65", {.context = 32});
    QCOMPARE(data.train->shape().dimensions, Ids{32});
    QCOMPARE(data.train->shape().vocabulary, 65);
    const Ids some{0, 7, 799};
    Ids tokens(3 * 32);
    data.train->fill_tokens(some, 32, tokens.data());
    const Ids targets = labels_of(*data.train, some, 32);
    std::map<std::int64_t, std::map<std::int64_t, int>> followers;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      QVERIFY(tokens[i] >= 0 && tokens[i] < 65 && targets[i] >= 0 && targets[i] < 65);
      if (i % 32 != 31)
        QCOMPARE(targets[i], tokens[i + 1]);
    }
    const Ids all = numbers_below(800);
    Ids many(800 * 32);
    data.train->fill_tokens(all, 32, many.data());
    const Ids next = labels_of(*data.train, all, 32);
    for (std::size_t i = 0; i < many.size(); ++i)
      ++followers[many[i]][next[i]];
    int usual = 0;
    for (const auto& [token, counts] : followers) {
      int most = 0;
      for (const auto& [follower, count] : counts)
        most = std::max(most, count);
      usual += most;
    }
    const double fraction = usual / (800.0 * 32);
    QVERIFY2(fraction > 0.85 && fraction < 0.91, qPrintable(QString::number(fraction)));
    QCOMPARE(data.train->layout(some).loss_terms, 96);
  }
};

BATCHSCOPE_TEST(SyntheticTest)
#include "tst_synthetic.moc"
