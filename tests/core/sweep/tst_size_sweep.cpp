#include "core/sweep/size_sweep.h"

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::sweep;

class TestSizeSweep : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sizes_data();
  void sizes();
  void sizesOfAnySearch();
  void endsWithTheGoal();
  void oneRateForAllSizes();
  void jsonKeepsGoalAndSearch();
  void refused();
};

namespace {

search::SearchResult found(std::int64_t largest, std::optional<std::int64_t> safe) {
  search::SearchResult result;
  result.found = true;
  result.largest = largest;
  result.safe = safe;
  result.timings = {{.batch = largest, .seconds = 1, .examples_per_second = 500}};
  return result;
}

QString text_of(const std::vector<std::int64_t>& sizes) {
  QStringList texts;
  for (const std::int64_t size : sizes)
    texts << QString::number(size);
  return texts.join(' ');
}

} // namespace

void TestSizeSweep::sizes_data() {
  QTest::addColumn<int>("largest");
  QTest::addColumn<int>("safe");
  QTest::addColumn<QString>("sizes");
  QTest::newRow("206") << 206 << 165 << "8 16 32 64 165 206";
  QTest::newRow("a power of two") << 150 << 128 << "8 16 32 64 128 150";
  QTest::newRow("wide") << 5000 << 4096 << "32 128 512 2048 4096 5000";
  QTest::newRow("no safe size") << 20 << 0 << "8 20";
  QTest::newRow("small") << 12 << 9 << "1 2 4 9 12";
  QTest::newRow("two") << 2 << 2 << "1 2";
  QTest::newRow("one") << 1 << 1 << "1";
}

void TestSizeSweep::sizes() {
  QFETCH(int, largest);
  QFETCH(int, safe);
  QFETCH(QString, sizes);
  QCOMPARE(text_of(sizes_to_train(found(largest, safe > 0 ? std::optional<std::int64_t>(safe) : std::nullopt))), sizes);
}

void TestSizeSweep::sizesOfAnySearch() {
  QVERIFY(sizes_to_train({}).empty());
  for (std::int64_t safe = 1; safe < 3000; ++safe) {
    search::SearchResult result = found(safe + 1, safe);
    auto sizes = sizes_to_train(result);
    QCOMPARE(sizes.back(), safe + 1);
    sizes.pop_back();
    QCOMPARE(sizes.back(), safe);
    QVERIFY(sizes.size() <= 5);
    result.recommended = std::max<std::int64_t>(safe / 2 + 1, 1);
    const auto with_recommended = sizes_to_train(result);
    QVERIFY(std::count(with_recommended.begin(), with_recommended.end(), *result.recommended) == 1);
    QVERIFY(std::is_sorted(with_recommended.begin(), with_recommended.end()) && with_recommended.size() <= 7);
    for (std::size_t i = 1; i < sizes.size(); ++i)
      QVERIFY(sizes[i - 1] >= 1 && 3 * sizes[i - 1] <= 2 * sizes[i]);
  }
}

void TestSizeSweep::endsWithTheGoal() {
  const run::RunSpec spec;
  const auto with = [&](const char* goal, bool keep = false) {
    return size_sweep(spec, found(64, 51), 7, goal, keep).base;
  };
  QVERIFY(!with("accuracy").max_seconds && !with("accuracy").target_score);
  QCOMPARE(*with("accuracy").length.epochs, std::int64_t{1});
  const run::RunSpec target = with("target:97%");
  QCOMPARE(*target.target_score, 0.97);
  QCOMPARE(run::to_string(*target.evaluate_every), std::string("10%"));
  QCOMPARE(*target.length.epochs, std::int64_t{20});
  const run::RunSpec time = with("time:1min");
  QCOMPARE(*time.max_seconds, 60.0);
  QCOMPARE(*time.length.examples, std::int64_t{60'000}); // twice what 500 examples/s train
  QCOMPARE(*with("time:1min", true).length.epochs, std::int64_t{1});
  const SweepSpec sweep = size_sweep(spec, found(64, 51), 7, "target:97%", false);
  check(sweep);
  QCOMPARE(combinations(sweep).size(), std::size_t{5 * 3}); // 8, 16, 32, 51, 64
}

void TestSizeSweep::oneRateForAllSizes() {
  run::RunSpec spec;
  QVERIFY(!size_sweep(spec, found(64, 51), 7, "accuracy", false).base.lr_reference_batch);
  spec.lr_rule = "linear";
  spec.accumulate = 2;
  const SweepSpec sweep = size_sweep(spec, found(64, 51), 7, "accuracy", false);
  const auto smallest = sizes_to_train(found(64, 51)).front();
  QCOMPARE(*sweep.base.lr_reference_batch, 2 * smallest);
  spec.lr_reference_batch = 256;
  QCOMPARE(*size_sweep(spec, found(64, 51), 7, "accuracy", false).base.lr_reference_batch, std::int64_t{256});
}

void TestSizeSweep::jsonKeepsGoalAndSearch() {
  const SweepSpec sweep = size_sweep({}, found(64, 51), 7, "time:90s", false);
  const SweepSpec again = sweep_spec_from_json(to_json(sweep));
  QCOMPARE(again.goal, std::string("time:90s"));
  QCOMPARE(*again.search, std::int64_t{7});
  QCOMPARE(to_json(again), to_json(sweep));
}

void TestSizeSweep::refused() {
  QVERIFY_EXCEPTION_THROWN(size_sweep({}, found(64, 51), 7, "fastest", false), Error);
  QVERIFY_EXCEPTION_THROWN(size_sweep({}, {}, 7, "accuracy", false), Error);
  QVERIFY_EXCEPTION_THROWN(check(sweep_spec_from_json(R"({"goal": "fastest"})")), Error);
  QVERIFY_EXCEPTION_THROWN(sweep_spec_from_json(R"({"goal": 7})"), Error);
}

BATCHSCOPE_TEST(TestSizeSweep)
#include "tst_size_sweep.moc"
