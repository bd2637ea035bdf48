#include <QTest>

#include <cmath>
#include <random>

#include "core/compare/statistics.h"
#include "test_program.h"
#include "ui/compare/mean_curve.h"

using namespace batchscope;
using namespace batchscope::ui;

namespace {

using Curves = std::vector<std::shared_ptr<const PointsCurve>>;
using Values = std::vector<double>;

std::shared_ptr<const PointsCurve> curve(const Values& x, const Values& y) {
  return std::make_shared<PointsCurve>(x, y);
}

series::Samples all_of(const CurveSource& curve) {
  series::Samples samples;
  curve.sample(-1e9, 1e9, 1'000'000, samples);
  return samples;
}

} // namespace

class TestMeanCurve : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void meansAtTheCurvesOwnPlaces() {
    const MeanCurve mean = mean_of({curve({1, 2, 4}, {1, 2, 6}), curve({1, 3, 4}, {3, 5, 8}), curve({1, 4}, {2, 4})});
    const series::Samples drawn = all_of(*mean.mean);
    QCOMPARE(drawn.x, (Values{1, 2, 3, 4}));
    QCOMPARE(drawn.y[0], 2.0);
    QCOMPARE(drawn.y[1], (2 + 4 + (2 + 2.0 / 3)) / 3); // of the other two, on their lines
    QCOMPARE(mean.band.x, drawn.x);
    const double half = *compare::half_interval(compare::summarize({1, 3, 2}));
    QCOMPARE(mean.band.low[0], 2 - half);
    QCOMPARE(mean.band.high[0], 2 + half);
  }

  void endsWhereFewGoOn() {
    // One that was stopped early does not pull the mean down when it is gone; alone, it is none.
    const MeanCurve mean =
        mean_of({curve({1, 2}, {1, 1}), curve({1, 2, 3}, {2, 2, 2}), curve({1, 2, 3, 4}, {3, 3, 3, 9})});
    QCOMPARE(all_of(*mean.mean).x, (Values{1, 2, 3}));
    QCOMPARE(all_of(*mean.mean).y, (Values{2, 2, 2.5}));
    QCOMPARE(mean.band.x, (Values{1, 2})); // of two values, no interval is drawn
    QVERIFY(mean_of({}).mean->size() == 0);
    QVERIFY(mean_of({curve({1, 2}, {1, 1})}).mean->size() == 0);
    QVERIFY(mean_of({curve({}, {}), curve({}, {})}).mean->size() == 0);
  }

  void leavesOutWhatIsNotFinite() {
    const MeanCurve mean = mean_of({curve({1, 2}, {1, NAN}), curve({1, 2}, {3, 4}), curve({1, 2}, {5, 6})});
    QCOMPARE(all_of(*mean.mean).y, (Values{3, 5}));
  }

  void longCurvesAreReadAtSomePlaces() {
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, 1);
    Curves curves;
    for (int run = 0; run < 20; ++run) {
      Values x, y;
      for (int i = 0; i < 2000; ++i) {
        x.push_back(i);
        y.push_back(7 + noise(random));
      }
      curves.push_back(curve(x, y));
    }
    const MeanCurve mean = mean_of(curves);
    QCOMPARE(mean.mean->size(), std::size_t(300));
    QCOMPARE(*mean.mean->extent(), std::pair(0.0, 1999.0));
    std::size_t inside = 0;
    for (std::size_t i = 0; i < mean.band.x.size(); ++i)
      inside += mean.band.low[i] < 7 && mean.band.high[i] > 7 ? 1 : 0;
    QVERIFY2(inside > 270 && inside < 300, qPrintable(QString::number(inside))); // about 95 of 100
  }
};

BATCHSCOPE_TEST(TestMeanCurve)
#include "tst_mean_curve.moc"
