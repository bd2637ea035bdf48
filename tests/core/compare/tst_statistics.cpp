#include "core/compare/statistics.h"

#include <cmath>
#include <limits>
#include <random>

#include <QTest>

#include "test_program.h"

using namespace batchscope::compare;

class TestStatistics : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void summaries();
  void quantiles_data();
  void quantiles();
  void intervalsHoldTheMean();
  void settingsShareTheirSpread();
};

void TestStatistics::summaries() {
  const Summary some = summarize({1, 2, 3, 4});
  QCOMPARE(some.n, std::int64_t{4});
  QCOMPARE(some.mean, 2.5);
  QCOMPARE(some.deviation, std::sqrt(5.0 / 3));
  QCOMPARE(summarize({}).n, std::int64_t{0});
  QCOMPARE(summarize({7}).deviation, 0.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  QCOMPARE(summarize({nan, 1, std::numeric_limits<double>::infinity(), 3}).mean, 2.0);
}

void TestStatistics::quantiles_data() {
  QTest::addColumn<double>("p");
  QTest::addColumn<int>("degrees");
  QTest::addColumn<double>("quantile");
  // Tables of Student's distribution (NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2).
  const auto row = [](double p, int degrees, double quantile) {
    QTest::addRow("%g of %d", p, degrees) << p << degrees << quantile;
  };
  row(0.975, 1, 12.706);
  row(0.975, 2, 4.303);
  row(0.975, 3, 3.182);
  row(0.975, 4, 2.776);
  row(0.975, 9, 2.262);
  row(0.975, 30, 2.042);
  row(0.995, 2, 9.925);
  row(0.995, 3, 5.841);
  row(0.999, 4, 7.173);
  row(0.95, 5, 2.015);
  row(0.90, 10, 1.372);
  row(0.975, 1000, 1.962);
}

void TestStatistics::quantiles() {
  QFETCH(double, p);
  QFETCH(int, degrees);
  QFETCH(double, quantile);
  const double found = student_quantile(p, degrees);
  QVERIFY2(std::abs(found / quantile - 1) < 1e-3, qPrintable(QString::number(found, 'g', 8)));
}

/// 95 of 100 intervals hold the true mean, whatever the number of values.
void TestStatistics::intervalsHoldTheMean() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(3, 2);
  for (const int n : {2, 3, 5, 10}) {
    int held = 0;
    constexpr int rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i)
        values.push_back(normal(random) - 3);
      held += mean_interval(values)->contains_zero() ? 1 : 0;
    }
    const double share = static_cast<double>(held) / rounds;
    QVERIFY2(share > 0.935 && share < 0.965, qPrintable(QString::number(share)));
  }
  QVERIFY(!mean_interval({1}));
  QVERIFY(mean_interval({0, 0, 0})->contains_zero());
  const auto one = mean_interval({1, 2, 3});
  const auto of_ten = mean_interval({1, 2, 3}, 10);
  QVERIFY(of_ten->low < one->low && of_ten->high > one->high);
}

/// Of two settings, the deviation of their differences; of more, that of all pairs together.
void TestStatistics::settingsShareTheirSpread() {
  const auto of_two = pooled_spread({{1, 2, 3}, {2, 4, 6}}); // differences 1, 2, 3
  QCOMPARE(of_two->deviation, 1.0);
  QCOMPARE(of_two->degrees, std::int64_t{2});
  const auto of_three = pooled_spread({{1, 2, 3}, {2, 4, 6}, {0, 0, 0}});
  QCOMPARE(of_three->deviation, std::sqrt(2 * 4.0 / 4)); // squared residuals 4, see the analysis of variance
  QCOMPARE(of_three->degrees, std::int64_t{4});
  QVERIFY(!pooled_spread({{1, 2, 3}}));
  QVERIFY(!pooled_spread({{1}, {2}}));
  // Differences that happen to be equal do not make a setting certainly worse.
  QVERIFY(mean_interval({1, 1, 1}, 1, Spread{1, 4})->contains_zero());
  QVERIFY(!mean_interval({1, 1, 1}, 1, Spread{0.1, 4})->contains_zero());
}

BATCHSCOPE_TEST(TestStatistics)
#include "tst_statistics.moc"
