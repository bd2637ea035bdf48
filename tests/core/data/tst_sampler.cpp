#include <algorithm>
#include <numeric>
#include <random>

#include <QTest>

#include "core/base/error.h"
#include "core/data/sampler.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

SamplerOptions options(std::int64_t examples, std::int64_t ranks = 1, std::int64_t accumulate = 1,
                       bool drop_last = false) {
  return {
      .examples = examples, .ranks = ranks, .accumulate = accumulate, .effective_batch = {}, .drop_last = drop_last};
}

using Takes = std::vector<std::int64_t>;

/// A random way to set up and walk the sampler; `describe` names it when a property does not hold.
struct Case {
  SamplerOptions options;
  std::vector<std::int64_t> batches;

  QByteArray describe(int number) const {
    return QStringLiteral("case %1: N=%2 R=%3 k=%4 B=%5 drop_last=%6")
        .arg(number)
        .arg(options.examples)
        .arg(options.ranks)
        .arg(options.accumulate)
        .arg(options.effective_batch.value_or(0))
        .arg(options.drop_last)
        .toUtf8();
  }
};

Case random_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t lowest, std::int64_t highest) {
    return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random);
  };
  Case result;
  result.options.ranks = std::array<std::int64_t, 4>{1, 2, 3, 4}[pick(0, 3)];
  result.options.examples = pick(result.options.ranks, 200);
  result.options.accumulate = pick(1, 4);
  result.options.drop_last = pick(0, 1) == 1;
  if (pick(0, 2) == 0)
    result.options.effective_batch = pick(1, result.options.examples);
  const std::int64_t largest = largest_batch(result.options.examples, result.options.ranks);
  for (int i = 0; i < 100; ++i)
    result.batches.push_back(pick(1, pick(1, largest)));
  return result;
}

std::int64_t spread(Takes values) {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  return *highest - *lowest;
}

Takes sums_by(const StepTakes& step, bool by_rank) {
  Takes sums(by_rank ? step.ranks : step.takes.size() / step.ranks, 0);
  for (std::size_t i = 0; i < step.takes.size(); ++i)
    sums[by_rank ? i % step.ranks : i / step.ranks] += step.takes[i];
  return sums;
}

} // namespace

class SamplerTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void splitsTheTailOverTheRanks() {
    Sampler sampler(options(10, 4));
    QCOMPARE(sampler.next(2).takes, (Takes{2, 2, 2, 2}));
    const StepTakes tail = sampler.next(2);
    QCOMPARE(tail.takes, (Takes{1, 1, 0, 0}));
    QCOMPARE(tail.first, 8);
    QCOMPARE(tail.passed_in_epoch, 10);
    QCOMPARE(sampler.next(2).epoch_index, 1);
  }

  void stepsATailInsideAnAccumulationWindow() {
    Sampler sampler(options(10, 2, 3));
    const StepTakes step = sampler.next(2);
    QCOMPARE(step.takes, (Takes{2, 2, 2, 2, 1, 1}));
    QCOMPARE(step.examples, 10);
    QCOMPARE(step.passed_in_epoch, 10);

    Sampler shorter(options(10, 1, 4));
    QCOMPARE(shorter.next(2).takes, (Takes{2, 2, 2, 2}));
    const StepTakes tail = shorter.next(2);
    QCOMPARE(tail.takes, (Takes{2}));
    QCOMPARE(tail.accumulate, 4);
  }

  void dropsTheTail() {
    Sampler sampler(options(10, 2, 1, true));
    QCOMPARE(sampler.next(3).seen_in_epoch, 6);
    const StepTakes next = sampler.next(3);
    QCOMPARE(next.epoch_index, 1);
    QCOMPARE(next.takes, (Takes{3, 3}));
    QCOMPARE(next.seen_in_total, 12);
  }

  void countsADroppedTailAsPassed() {
    Sampler sampler(options(10, 1, 1, true));
    QCOMPARE(sampler.next(4).passed_in_epoch, 4);
    const StepTakes last = sampler.next(4);
    QCOMPARE(last.seen_in_epoch, 8);
    QCOMPARE(last.passed_in_epoch, 10);
  }

  void letsAShrunkSizeTakeFromTheTailThatAWiderOneWouldDrop() {
    Sampler sampler(options(10, 1, 1, true));
    sampler.next(4);
    sampler.next(4);
    const StepTakes step = sampler.next(2);
    QCOMPARE(step.epoch_index, 0);
    QCOMPARE(step.takes, (Takes{2}));
  }

  void endsTheEpochWhenAGrownSizeFindsTooLittle() {
    Sampler sampler(options(10, 1, 1, true));
    QCOMPARE(sampler.next(4).passed_in_epoch, 4);
    const StepTakes step = sampler.next(7);
    QCOMPARE(step.epoch_index, 1);
    QCOMPARE(step.takes, (Takes{7}));
  }

  void keepsWholeMicroBatchesOfAWindowThatDropLastCutsShort() {
    Sampler sampler(options(11, 2, 2, true));
    QCOMPARE(sampler.next(2).takes, (Takes{2, 2, 2, 2}));
    QCOMPARE(sampler.next(2).epoch_index, 1);
    Sampler longer(options(15, 2, 2, true));
    longer.next(2);
    const StepTakes step = longer.next(2);
    QCOMPARE(step.takes, (Takes{2, 2}));
    QCOMPARE(step.passed_in_epoch, 15);
  }

  void meetsTheEffectiveBatchExactly() {
    SamplerOptions named = options(8000);
    named.effective_batch = 512;
    QCOMPARE(Sampler(named).next(32).takes, Takes(16, 32));
    named.effective_batch = 500;
    const StepTakes step = Sampler(named).next(32);
    QCOMPARE(step.takes.size(), std::size_t{16});
    QCOMPARE(step.accumulate, 16);
    QCOMPARE(step.examples, 500);
    QCOMPARE(std::count(step.takes.begin(), step.takes.end(), 31), 12);
    QCOMPARE(std::count(step.takes.begin(), step.takes.end(), 32), 4);
    named.ranks = 4;
    QCOMPARE(Sampler(named).next(32).accumulate, 4);
    named.effective_batch = 3;
    QCOMPARE(Sampler(named).next(32).takes, (Takes{1, 1, 1, 0}));
  }

  void endsExactlyAtTheLimit() {
    for (bool drop_last : {false, true}) {
      Sampler sampler(options(12, 2, 2, drop_last));
      QCOMPARE(sampler.next(1, 25).examples, 4);
      const StepTakes step = sampler.next(2, 5);
      QCOMPARE(step.takes, (Takes{2, 2, 1, 0}));
      QCOMPARE(step.seen_in_total, 9);
      QCOMPARE(sampler.next(1, 1).examples, 1);
    }
  }

  void holdsBillions() {
    const std::int64_t n = 3'000'000'000;
    Sampler sampler(options(n, 4));
    const StepTakes step = sampler.next(700'000'000);
    QCOMPARE(step.takes, Takes(4, 700'000'000));
    const StepTakes tail = sampler.next(700'000'000);
    QCOMPARE(tail.takes, Takes(4, 50'000'000));
    for (int epoch = 1; epoch < 1000; ++epoch)
      QCOMPARE(sampler.next(n / 4).seen_in_total, n * (epoch + 1));
  }

  void refusesWhatCannotBe_data() {
    QTest::addColumn<qint64>("examples");
    QTest::addColumn<qint64>("ranks");
    QTest::addColumn<qint64>("accumulate");
    QTest::addColumn<qint64>("effective");
    QTest::addColumn<QString>("word");
    QTest::newRow("no examples") << qint64{0} << qint64{1} << qint64{1} << qint64{1} << "examples";
    QTest::newRow("no ranks") << qint64{10} << qint64{0} << qint64{1} << qint64{1} << "ranks";
    QTest::newRow("no accumulation") << qint64{10} << qint64{1} << qint64{0} << qint64{1} << "accumulate";
    QTest::newRow("B above N") << qint64{10} << qint64{1} << qint64{1} << qint64{11} << "effective batch";
    QTest::newRow("B of 0") << qint64{10} << qint64{1} << qint64{1} << qint64{0} << "effective batch";
  }
  void refusesWhatCannotBe() {
    QFETCH(qint64, examples);
    QFETCH(qint64, ranks);
    QFETCH(qint64, accumulate);
    QFETCH(qint64, effective);
    QFETCH(QString, word);
    SamplerOptions bad = options(examples, ranks, accumulate);
    bad.effective_batch = effective;
    try {
      Sampler sampler(bad);
      QFAIL("accepted");
    } catch (const Error& e) {
      QCOMPARE(e.kind(), Error::Kind::input);
      QVERIFY2(QString(e.what()).contains(word), e.what());
    }
  }

  void refusesBatchesOutOfRangeAndBoundlessSteps() {
    Sampler sampler(options(10, 2));
    QVERIFY_THROWS_EXCEPTION(Error, sampler.next(0));
    QVERIFY_THROWS_EXCEPTION(Error, sampler.next(6));
    Sampler endless(options(3'000'000'000, 1, 1'000'000'000));
    QVERIFY_THROWS_EXCEPTION(Error, endless.next(1));
    // What is refused leaves the sampler where it was.
    QCOMPARE(sampler.next(5).first, 0);
  }

  void dividesTheWorld() {
    QCOMPARE(data_parallel_size(16, 2, 2, 1), 4);
    for (const auto& [world, tp] : {std::pair{6, 4}, {0, 1}, {4, 0}, {4, -1}}) {
      try {
        data_parallel_size(world, tp, 1, 1);
        QFAIL("accepted");
      } catch (const Error& e) {
        const QString expected = QStringLiteral("world %1, tp %2, cp 1, sp 1").arg(world).arg(tp);
        QVERIFY2(QString(e.what()).contains(expected), e.what());
      }
    }
    const std::int64_t huge = std::int64_t{1} << 40;
    QVERIFY_THROWS_EXCEPTION(Error, data_parallel_size(huge, huge, huge, 1));
  }

  void holdsItsPromisesInRandomCases() {
    const unsigned seed = 20240;
    std::mt19937_64 random(seed);
    for (int number = 0; number < 2000; ++number) {
      const Case c = random_case(random);
      Sampler sampler(c.options);
      StepTakes before;
      for (std::int64_t batch : c.batches) {
        const StepTakes step = sampler.next(batch);
        const QByteArray problem = broken_promise(c.options, batch, before, step);
        QVERIFY2(problem.isEmpty(), (c.describe(number) + ", batch " + QByteArray::number(qlonglong(batch)) + ": " +
                                     problem + " (seed " + QByteArray::number(seed) + ")")
                                        .constData());
        before = step;
      }
    }
  }

private:
  /// What is wrong with a step that follows another; empty where everything holds.
  static QByteArray broken_promise(const SamplerOptions& o, std::int64_t batch, const StepTakes& before,
                                   const StepTakes& step) {
    const bool new_epoch = step.first == 0;
    const std::int64_t left = o.examples - step.first;
    const std::int64_t meant = o.effective_batch.value_or(batch * o.ranks * o.accumulate);
    if (step.examples != std::accumulate(step.takes.begin(), step.takes.end(), std::int64_t{0}))
      return "the sum of the takes";
    if (new_epoch && before.examples > 0 && step.epoch_index != before.epoch_index + 1)
      return "the epoch's number";
    if (!new_epoch && (step.first != before.seen_in_epoch || step.epoch_index != before.epoch_index))
      return "examples left out or taken twice";
    if (!o.drop_last && new_epoch && before.examples > 0 && before.seen_in_epoch != o.examples)
      return "an epoch that is not complete";
    if (!o.drop_last && step.examples != std::min(left, meant))
      return "a step that is too small";
    if (o.drop_last && o.effective_batch && step.examples != meant)
      return "a smaller effective batch under drop_last";
    if (o.drop_last && !o.effective_batch && spread(step.takes) != 0)
      return "a short micro batch under drop_last";
    if (*std::max_element(step.takes.begin(), step.takes.end()) > batch)
      return "a take above the batch";
    if (step.examples < 1 || step.seen_in_total != before.seen_in_total + step.examples)
      return "the total";
    return uneven(o, step);
  }

  static QByteArray uneven(const SamplerOptions& o, const StepTakes& step) {
    for (std::size_t i = 0; i < step.takes.size(); i += step.ranks)
      if (spread(Takes(step.takes.begin() + i, step.takes.begin() + i + step.ranks)) > 1)
        return "ranks that differ by more than one";
    if (spread(sums_by(step, true)) > 1)
      return "ranks whose sums differ by more than one";
    if (o.effective_batch && spread(sums_by(step, false)) > 1)
      return "micro batches that differ by more than one";
    if (static_cast<std::int64_t>(step.takes.size()) > step.accumulate * step.ranks)
      return "more micro batches than were meant";
    return {};
  }
};

BATCHSCOPE_TEST(SamplerTest)
#include "tst_sampler.moc"
