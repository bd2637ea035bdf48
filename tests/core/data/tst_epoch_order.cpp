#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <QTest>

#include "core/data/sampler.h"
#include "test_program.h"

using batchscope::data::EpochOrder;

namespace {

std::vector<std::int64_t> order_of(std::int64_t examples, std::uint64_t seed, std::int64_t epoch) {
  const EpochOrder order(examples, seed, epoch);
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < examples; ++i)
    result.push_back(order.at(i));
  return result;
}

/// Chi-square of the counts against equal shares, in standard deviations above what is expected.
double excess(const std::vector<int>& counts) {
  double total = 0;
  for (int count : counts)
    total += count;
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0;
  for (int count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

} // namespace

class EpochOrderTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isAPermutation() {
    for (std::int64_t n = 1; n <= 300; ++n) {
      const auto order = order_of(n, 7, n % 5);
      const std::set<std::int64_t> values(order.begin(), order.end());
      QCOMPARE(static_cast<std::int64_t>(values.size()), n);
      QCOMPARE(*values.begin(), 0);
      QCOMPARE(*values.rbegin(), n - 1);
    }
  }

  void isAPermutationAroundPowersOfTwo() {
    for (std::int64_t n : {4095, 4096, 4097, 65537, 100000}) {
      std::vector<bool> seen(static_cast<std::size_t>(n), false);
      for (std::int64_t value : order_of(n, 3, 1)) {
        QVERIFY(value >= 0 && value < n);
        QVERIFY(!seen[static_cast<std::size_t>(value)]);
        seen[static_cast<std::size_t>(value)] = true;
      }
    }
  }

  void needsNoTableForBillions() {
    const std::int64_t n = 3'000'000'017;
    const EpochOrder order(n, 1, 0);
    std::set<std::int64_t> values;
    std::int64_t spots = 0;
    for (std::int64_t i = 0; i < n; i += 29'999'989, ++spots) {
      const std::int64_t value = order.at(i);
      QVERIFY(value >= 0 && value < n);
      values.insert(value);
    }
    for (std::int64_t i = n - 100; i < n; ++i, ++spots)
      values.insert(order.at(i));
    QCOMPARE(static_cast<std::int64_t>(values.size()), spots);
    // Above 2^32 the upper halves matter.
    const EpochOrder larger(std::int64_t{1} << 40, 1, 0);
    int high = 0;
    for (std::int64_t i = 0; i < 1000; ++i)
      high += larger.at(i) >= (std::int64_t{1} << 39) ? 1 : 0;
    QVERIFY2(high > 400 && high < 600, qPrintable(QString::number(high)));
  }

  void dependsOnSeedAndEpochOnly() {
    QCOMPARE(order_of(1000, 5, 2), order_of(1000, 5, 2));
    std::set<std::vector<std::int64_t>> orders;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      for (std::int64_t epoch = 0; epoch < 20; ++epoch)
        orders.insert(order_of(50, seed, epoch));
    // Neighbouring seeds share no epochs: seed + e would leave 39 orders.
    QCOMPARE(orders.size(), std::size_t{400});
  }

  void everyOrderOfFewIsEquallyLikely() {
    std::int64_t orders = 2;
    for (std::int64_t n = 3; n <= 5; ++n) {
      orders *= n;
      std::map<std::vector<std::int64_t>, int> found;
      for (std::int64_t epoch = 0; epoch < 500 * orders; ++epoch)
        ++found[order_of(n, 11, epoch)];
      QCOMPARE(static_cast<std::int64_t>(found.size()), orders);
      std::vector<int> counts;
      for (const auto& [order, count] : found)
        counts.push_back(count);
      QVERIFY2(excess(counts) < 5, qPrintable(QString::number(excess(counts))));
    }
  }

  void placesAreEvenOverEpochs_data() {
    QTest::addColumn<int>("examples");
    for (int n : {2, 5, 10, 16, 37, 100})
      QTest::addRow("%d", n) << n;
  }
  void placesAreEvenOverEpochs() {
    QFETCH(int, examples);
    std::vector<int> first(examples, 0);
    std::vector<int> last(examples, 0);
    std::vector<int> place_of_first(examples, 0);
    for (int epoch = 0; epoch < 400 * examples; ++epoch) {
      const auto order = order_of(examples, 1, epoch);
      ++first[order.front()];
      ++last[order.back()];
      ++place_of_first[std::find(order.begin(), order.end(), 0) - order.begin()];
    }
    for (const auto& counts : {first, last, place_of_first})
      QVERIFY2(excess(counts) < 5, qPrintable(QString::number(excess(counts))));
  }

  void neighboursAreUnrelated() {
    // Pairs of neighbours, sorted into 16 x 16 boxes; and runs up, which a shuffled order has in half of all places.
    const int n = 100'000;
    const auto order = order_of(n, 1, 0);
    std::vector<int> boxes(256, 0);
    int up = 0;
    for (int i = 0; i + 1 < n; ++i) {
      ++boxes[order[i] * 16 / n * 16 + order[i + 1] * 16 / n];
      up += order[i + 1] > order[i] ? 1 : 0;
    }
    QVERIFY2(excess(boxes) < 5, qPrintable(QString::number(excess(boxes))));
    QVERIFY2(std::abs(up - n / 2) < 5 * std::sqrt(n / 12.0), qPrintable(QString::number(up)));
  }

  void consecutiveEpochsAreUnrelated() {
    const int n = 20'000;
    const auto a = order_of(n, 1, 0);
    const auto b = order_of(n, 1, 1);
    std::vector<int> boxes(256, 0);
    int same = 0;
    for (int i = 0; i < n; ++i) {
      ++boxes[a[i] * 16 / n * 16 + b[i] * 16 / n];
      same += a[i] == b[i] ? 1 : 0;
    }
    QVERIFY2(excess(boxes) < 5, qPrintable(QString::number(excess(boxes))));
    QVERIFY2(same < 10, qPrintable(QString::number(same)));
  }
};

BATCHSCOPE_TEST(EpochOrderTest)
#include "tst_epoch_order.moc"
