#include "core/sweep/recommend.h"
#include "test_program.h"

#include <cmath>

#include <QTest>

using namespace batchscope::sweep;

class TestRecommend : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void accuracyFirst();
  void speedAmongTheAccurate();
  void smallerOfTheFast();
  void manyExamplesTellMore();
  void unusableSizesAreLeftOut();
  void nothingMeasured();
};

namespace {

std::int64_t chosen(const std::vector<SizeResult>& sizes, std::int64_t validation_examples = 2000) {
  const auto recommendation = recommend(sizes, validation_examples);
  return recommendation ? recommendation->batch : 0;
}

} // namespace

void TestRecommend::accuracyFirst() {
  QCOMPARE(chosen({{16, 0.97, 500}, {64, 0.90, 1000}, {256, 0.80, 2000}}), std::int64_t{16});
}

void TestRecommend::speedAmongTheAccurate() {
  const std::vector<SizeResult> sizes{{16, 0.97, 500}, {64, 0.966, 1000}, {256, 0.80, 2000}};
  QCOMPARE(chosen(sizes), std::int64_t{64});
  const std::string reason = recommend(sizes, 2000)->reason;
  for (const char* figure : {"96.60 %", "97.00 % at batch 16", "1,000 examples/s"})
    QVERIFY2(reason.find(figure) != std::string::npos, reason.c_str());
}

void TestRecommend::smallerOfTheFast() {
  QCOMPARE(chosen({{16, 0.95, 500}, {64, 0.95, 960}, {256, 0.95, 1000}}), std::int64_t{64});
}

void TestRecommend::manyExamplesTellMore() {
  const std::vector<SizeResult> sizes{{16, 0.97, 500}, {64, 0.966, 1000}};
  QCOMPARE(chosen(sizes, 2000), std::int64_t{64});
  QCOMPARE(chosen(sizes, 1'000'000), std::int64_t{16});
}

void TestRecommend::unusableSizesAreLeftOut() {
  QCOMPARE(chosen({{16, std::nan(""), 500}, {32, 0.5, 0}, {64, 0.4, 10}}), std::int64_t{64});
}

void TestRecommend::nothingMeasured() {
  QVERIFY(!recommend({}, 2000));
  QVERIFY(!recommend({{16, std::nan(""), 500}}, 2000));
}

BATCHSCOPE_TEST(TestRecommend)
#include "tst_recommend.moc"
