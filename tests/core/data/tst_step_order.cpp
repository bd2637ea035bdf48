#include <QTest>

#include <algorithm>
#include <random>

#include "core/data/step_order.h"
#include "data_files.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

/// Lines of 1 to 60 characters.
QByteArray random_lines(std::mt19937_64& random, int count) {
  QByteArray text;
  for (int i = 0; i < count; ++i)
    text += QByteArray(1 + static_cast<int>(random() % 60), static_cast<char>('a' + random() % 26)) + '\n';
  return text;
}

/// The examples of all steps of some epochs, with random batches.
std::vector<std::int64_t> walked(const Dataset& data, bool grouped, std::uint64_t seed, int epochs,
                                 std::mt19937_64& random) {
  SamplerOptions options;
  options.examples = data.size();
  Sampler sampler(options);
  StepOrder order(data, seed, grouped);
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> indices;
  while (static_cast<std::int64_t>(all.size()) < epochs * data.size()) {
    order.examples_of(sampler.next(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(data.size()))),
                      indices);
    all.insert(all.end(), indices.begin(), indices.end());
  }
  return all;
}

/// Tokens of an epoch in micro batches of 16, with padding.
std::int64_t padded_tokens(const Dataset& data, const std::vector<std::int64_t>& examples) {
  std::int64_t tokens = 0;
  for (std::size_t from = 0; from < examples.size(); from += 16) {
    const auto micro = std::span(examples).subspan(from, std::min<std::size_t>(16, examples.size() - from));
    tokens += data.layout(micro).length * static_cast<std::int64_t>(micro.size());
  }
  return tokens;
}

} // namespace

class StepOrderTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isTheEpochsOrderForOneSource() {
    const DataSplit data = open_data("synthetic:examples=100,shape=4,classes=2,validation=0");
    StepOrder order(*data.train, 5);
    std::vector<std::int64_t> indices;
    StepTakes takes;
    takes.epoch_index = 3;
    takes.first = 40;
    takes.examples = 60;
    order.examples_of(takes, indices);
    const EpochOrder expected(100, 5, 3);
    for (std::int64_t i = 0; i < 60; ++i)
      QCOMPARE(indices[static_cast<std::size_t>(i)], expected.at(40 + i));
  }

  /// Grouped or not, whatever the batches: every example once an epoch, in an order that only the seed decides.
  void everyExampleOnceAnEpochInTheSameOrder() {
    std::mt19937_64 random(12);
    DataFiles files;
    for (int number = 0; number < 20; ++number) {
      const int count = 1 + static_cast<int>(random() % 400);
      const DataSplit data =
          open_data("lines:" + files.write("lines", random_lines(random, count)) + ",validation=0", {.context = 64});
      for (const bool grouped : {false, true}) {
        const auto all = walked(*data.train, grouped, 7, 2, random);
        QCOMPARE(walked(*data.train, grouped, 7, 2, random), all);
        for (int epoch = 0; epoch < 2; ++epoch) {
          std::vector<std::int64_t> own(all.begin() + epoch * count, all.begin() + (epoch + 1) * count);
          std::sort(own.begin(), own.end());
          QCOMPARE(own, numbers_below(count));
        }
        if (count > 50)
          QVERIFY(walked(*data.train, grouped, 8, 1, random) !=
                  std::vector<std::int64_t>(all.begin(), all.begin() + count));
      }
    }
  }

  void groupingSavesPadding() {
    std::mt19937_64 random(13);
    DataFiles files;
    const DataSplit data =
        open_data("lines:" + files.write("lines", random_lines(random, 4000)) + ",validation=0", {.context = 64});
    const std::int64_t tokens = data.train->layout(numbers_below(4000)).loss_terms;
    const std::int64_t grouped = padded_tokens(*data.train, walked(*data.train, true, 1, 1, random));
    const std::int64_t plain = padded_tokens(*data.train, walked(*data.train, false, 1, 1, random));
    QVERIFY2(grouped < tokens * 105 / 100, qPrintable(QString::number(grouped)));
    QVERIFY2(plain > tokens * 150 / 100, qPrintable(QString::number(plain)));
  }

  void streamsAreInterleavedInTheirOwnOrders() {
    const DataSplit data = open_data("a=synthetic:examples=20,shape=4,classes=2,validation=0,"
                                     "b=synthetic:examples=5,shape=4,classes=2,validation=0");
    StepOrder order(*data.train, 1);
    StepTakes takes;
    takes.examples = 16;
    takes.streams = {{.epoch_index = 0, .first = 4, .count = 8}, {.epoch_index = 2, .first = 3, .count = 8}};
    std::vector<std::int64_t> indices;
    order.examples_of(takes, indices);
    std::vector<int> seen(25, 0);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      QCOMPARE(indices[i] >= 20, i % 2 == 1);
      ++seen[static_cast<std::size_t>(indices[i])];
    }
    // The small stream starts over: two of one epoch, five of the next, one of another.
    QCOMPARE(std::accumulate(seen.begin() + 20, seen.end(), 0), 8);
    QCOMPARE(*std::max_element(seen.begin(), seen.begin() + 20), 1);
    std::vector<std::int64_t> epoch;
    for (std::size_t i = 5; i < 15; i += 2)
      epoch.push_back(indices[i]);
    std::sort(epoch.begin(), epoch.end());
    QCOMPARE(epoch, (std::vector<std::int64_t>{20, 21, 22, 23, 24}));
  }
};

BATCHSCOPE_TEST(StepOrderTest)
#include "tst_step_order.moc"
