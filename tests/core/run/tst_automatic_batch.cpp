#include "core/run/automatic_batch.h"

#include <QTest>

#include "core/data/sampler.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

/// Counted by walking the epoch, not by the formula.
std::int64_t steps_in_epoch(const data::SamplerOptions& options, std::int64_t batch) {
  data::Sampler sampler(options);
  std::int64_t steps = 0;
  while (sampler.next(batch).epoch_index == 0)
    ++steps;
  return steps;
}

} // namespace

class TestAutomaticBatch : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void leavesAnEpochEnoughSteps() {
    for (const bool drop_last : {false, true}) {
      for (const std::int64_t accumulate : {1, 3}) {
        for (std::int64_t examples = 1; examples < 700; ++examples) {
          const data::SamplerOptions options{.examples = examples, .accumulate = accumulate, .drop_last = drop_last};
          const std::int64_t largest = largest_automatic(options);
          QVERIFY(largest >= 1);
          if (largest > 1)
            QVERIFY(steps_in_epoch(options, largest) >= min_steps_in_epoch);
          // One more is too many, unless it is more than there are examples.
          if (largest + 1 <= examples && (!drop_last || (largest + 1) * accumulate <= examples))
            QVERIFY(steps_in_epoch(options, largest + 1) < min_steps_in_epoch);
        }
      }
    }
  }

  void aNamedEffectiveBatchIsTheUsersOwn() {
    data::SamplerOptions options{.examples = 1000};
    options.effective_batch = 512;
    QCOMPARE(largest_automatic(options), std::int64_t{512});
  }

  void eachChoiceHasItsAnswer() {
    search::SearchResult result;
    result.found = true;
    result.largest = 200;
    result.safe = 160;
    result.recommended = 128;
    result.automatic = 21;
    const auto answer = [&](BatchChoice::Kind kind) { return answer_to({kind, 7}, result).value_or(0); };
    QCOMPARE(answer(BatchChoice::Kind::number), std::int64_t{7});
    QCOMPARE(answer(BatchChoice::Kind::automatic), std::int64_t{21});
    QCOMPARE(answer(BatchChoice::Kind::recommended), std::int64_t{128});
    QCOMPARE(answer(BatchChoice::Kind::safe), std::int64_t{160});
    QCOMPARE(answer(BatchChoice::Kind::largest), std::int64_t{200});
    QVERIFY(!answer_to({BatchChoice::Kind::automatic, 0}, {}));
  }

  void saysWhy() {
    search::SearchResult result;
    result.found = true;
    result.timings = {{.batch = 128, .seconds = 0.1, .examples_per_second = 1280}};
    result.recommended = 128;
    result.automatic = 21;
    RunSpec spec;
    const std::string reason = reason_for(spec, result, 400);
    QCOMPARE(reason, std::string("recommended is 128, but an epoch of 400 examples would have only 4 steps; with 21 "
                                 "it has 20 steps"));
    result.automatic = 128;
    QVERIFY(reason_for(spec, result, 8000).starts_with("recommended: the fastest size measured"));
    spec.batch.kind = BatchChoice::Kind::safe;
    QVERIFY(reason_for(spec, result, 400).find("20 %") != std::string::npos);
    spec.batch.kind = BatchChoice::Kind::number;
    QVERIFY(reason_for(spec, result, 400).empty());
  }
};

BATCHSCOPE_TEST(TestAutomaticBatch)
#include "tst_automatic_batch.moc"
