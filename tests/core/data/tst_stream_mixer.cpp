#include <QTest>

#include <cmath>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/data/sampler.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

using Shares = std::vector<std::int64_t>;

std::int64_t sum_of(const Shares& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

double ideal(std::int64_t total, std::int64_t share) {
  return static_cast<double>(total) * static_cast<double>(share) / static_cast<double>(share_unit);
}

/// Random shares; some are 0, but not the clock's.
Shares random_shares(std::mt19937_64& random, std::size_t streams, std::size_t clock) {
  std::uniform_real_distribution<double> real(0, 1);
  std::vector<double> fractions;
  for (std::size_t i = 0; i < streams; ++i)
    fractions.push_back(i != clock && random() % 5 == 0 ? 0 : 0.01 + real(random));
  return exact_shares(fractions);
}

struct MixedCase {
  SamplerOptions options;
  std::vector<Shares> shares; ///< by step
  std::vector<std::int64_t> batches;
};

MixedCase random_mixed_case(std::mt19937_64& random) {
  const auto pick = [&](std::int64_t lowest, std::int64_t highest) {
    return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random);
  };
  MixedCase result;
  SamplerOptions& options = result.options;
  const auto streams = static_cast<std::size_t>(pick(2, 5));
  options.clock = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(streams) - 1));
  for (std::size_t i = 0; i < streams; ++i) {
    options.streams.push_back({std::string(1, static_cast<char>('a' + i)), pick(1, 60)});
    options.examples += options.streams.back().examples;
  }
  const bool constant = pick(0, 1) == 0;
  const Shares first = random_shares(random, streams, options.clock);
  for (int i = 0; i < 120; ++i) {
    result.shares.push_back(constant ? first : random_shares(random, streams, options.clock));
    options.largest_clock_share = std::max(options.largest_clock_share, result.shares.back()[options.clock]);
  }
  options.shares = result.shares.front();
  options.ranks = pick(1, std::min<std::int64_t>(3, largest_batch(options)));
  options.accumulate = pick(1, 3);
  options.drop_last = pick(0, 1) == 1;
  if (pick(0, 2) == 0)
    options.effective_batch = pick(1, largest_batch(options));
  for (int i = 0; i < 120; ++i)
    result.batches.push_back(pick(1, pick(1, largest_batch(options))));
  return result;
}

} // namespace

class StreamMixerTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sharesAddUpExactly() {
    QCOMPARE(exact_shares({0.7, 0.3}), (Shares{700'000'000, 300'000'000}));
    QCOMPARE(exact_shares({1, 1, 1}), (Shares{333'333'334, 333'333'333, 333'333'333}));
    QCOMPARE(exact_shares({0, 5}), (Shares{0, share_unit}));
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i)
      QCOMPARE(sum_of(random_shares(random, 2 + i % 9, 0)), share_unit);
  }

  void aSmallShareGetsItsExamplesWithABatchOfOne() {
    StreamMixer mixer({700'000'000, 300'000'000}, 0);
    Shares taken(2, 0);
    std::string order;
    for (int i = 0; i < 10; ++i) {
      const Shares counts = mixer.split(1, 1000);
      order += counts[0] == 1 ? 'a' : 'b';
      taken[0] += counts[0];
      taken[1] += counts[1];
    }
    QCOMPARE(order, std::string("abaaabaaba"));
    QCOMPARE(taken, (Shares{7, 3}));
  }

  void theCapacityIsThatOfTheClock() {
    const StreamMixer mixer({100'000'000, 900'000'000}, 0);
    QCOMPARE(mixer.capacity(0), std::int64_t{0});
    QCOMPARE(mixer.capacity(1), std::int64_t{19}); // 20 would have 2 of the clock
    QCOMPARE(StreamMixer({share_unit, 0}, 0).capacity(7), std::int64_t{7});
    QCOMPARE(StreamMixer({1, share_unit - 1}, 0).capacity(INT64_MAX - 1), INT64_MAX);
  }

  /// Shares within one example of the ideal at every step, the rounding of all steps bounded, epochs complete.
  void holdsItsPromisesInRandomCases() {
    const unsigned seed = 4711;
    std::mt19937_64 random(seed);
    for (int number = 0; number < (test::sanitized ? 100 : 1000); ++number) {
      const MixedCase c = random_mixed_case(random);
      Sampler sampler(c.options);
      std::vector<StreamTake> before(c.options.streams.size());
      std::int64_t total = 0;
      for (std::size_t step = 0; step < c.batches.size(); ++step) {
        sampler.set_shares(c.shares[step]);
        const StepTakes takes = sampler.next(c.batches[step]);
        const QByteArray problem = broken_promise(c, c.shares[step], before, takes);
        total += takes.examples;
        QVERIFY2(
            problem.isEmpty() && takes.seen_in_total == total,
            qPrintable(QStringLiteral("case %1 step %2 (seed %3): %4").arg(number).arg(step).arg(seed).arg(problem)));
        before = takes.streams;
      }
    }
  }

  /// Goes on in the middle exactly as one that never stopped.
  void goesOnFromAnyPosition() {
    std::mt19937_64 random(99);
    for (int number = 0; number < 200; ++number) {
      const MixedCase c = random_mixed_case(random);
      Sampler whole(c.options);
      const std::size_t stop = random() % c.batches.size();
      for (std::size_t step = 0; step < stop; ++step) {
        whole.set_shares(c.shares[step]);
        whole.next(c.batches[step]);
      }
      Sampler resumed(c.options);
      resumed.go_to(whole.position());
      for (std::size_t step = stop; step < c.batches.size(); ++step) {
        whole.set_shares(c.shares[step]);
        resumed.set_shares(c.shares[step]);
        const StepTakes a = whole.next(c.batches[step]);
        const StepTakes b = resumed.next(c.batches[step]);
        QCOMPARE(b.takes, a.takes);
        for (std::size_t i = 0; i < a.streams.size(); ++i) {
          QCOMPARE(b.streams[i].count, a.streams[i].count);
          QCOMPARE(b.streams[i].first, a.streams[i].first);
          QCOMPARE(b.streams[i].epoch_index, a.streams[i].epoch_index);
        }
      }
    }
  }

  void refusesSharesThatAreNone() {
    SamplerOptions good;
    good.examples = 30;
    good.streams = {{"a", 10}, {"b", 20}};
    good.shares = {300'000'000, 700'000'000};
    good.largest_clock_share = 300'000'000;
    QCOMPARE(largest_batch(good), std::int64_t{30}); // all examples; the clock would last for 36
    for (const Shares& shares : {Shares{0, share_unit}, Shares{share_unit}, Shares{1, 2}, Shares{-1, share_unit + 1}}) {
      Sampler sampler(good);
      QVERIFY_THROWS_EXCEPTION(Error, sampler.set_shares(shares));
    }
    good.examples = 31;
    QVERIFY_THROWS_EXCEPTION(Error, Sampler{good});
  }

private:
  static QByteArray broken_promise(const MixedCase& c, const Shares& shares, const std::vector<StreamTake>& before,
                                   const StepTakes& step) {
    const SamplerOptions& o = c.options;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const StreamTake& take = step.streams[i];
      const std::int64_t size = o.streams[i].examples;
      sum += take.count;
      if (std::abs(static_cast<double>(take.count) - ideal(step.examples, shares[i])) >= 1)
        return "a share that is an example or more away";
      if (shares[i] == 0 && take.count > 0)
        return "examples of a stream without a share";
      if (take.seen_in_total != before[i].seen_in_total + take.count)
        return "the total of a stream";
      // Without drop_last every stream, the clock too, goes through all of its examples before it starts over.
      if (i != o.clock || !o.drop_last)
        if (take.epoch_index * size + take.first != before[i].seen_in_total)
          return "examples of a stream left out or taken twice";
    }
    const StreamTake& clock = step.streams[o.clock];
    if (sum != step.examples || step.examples < 1)
      return "the sum of the streams";
    if (clock.first + clock.count > o.streams[o.clock].examples || clock.first != step.first)
      return "a step of the clock over the end of its epoch";
    if (step.seen_in_epoch != clock.first + clock.count || step.seen_of_epochs != clock.seen_in_total)
      return "the coverage";
    return {};
  }
};

BATCHSCOPE_TEST(StreamMixerTest)
#include "tst_stream_mixer.moc"
