#include <QTest>

#include "core/base/error.h"
#include "core/schedule/batch_schedule.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

namespace {

ScheduleOrigin origin(std::int64_t batch = 16) {
  ScheduleOrigin result;
  result.batch = batch;
  result.max_batch = 4096;
  result.state.examples = 1000;
  return result;
}

ScheduleState at_step(std::int64_t step, std::int64_t batch = 16) {
  ScheduleState state;
  state.step = step;
  state.batch = batch;
  state.examples = 1000;
  state.max_batch = 4096;
  return state;
}

ScheduleState at_epoch(double epochs) {
  ScheduleState state = at_step(1);
  state.epochs_passed = epochs;
  return state;
}

ScheduleState at_progress(double progress) {
  ScheduleState state = at_step(1);
  state.progress = progress;
  return state;
}

} // namespace

class BatchScheduleTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void constantKeepsTheSize() { QCOMPARE(make_schedule("constant", origin())->next(at_step(9, 24)).batch, 24); }

  void stepGrowsAtItsInterval() {
    const auto schedule = make_schedule("step:interval=5,increment=3", origin());
    QCOMPARE(schedule->next(at_step(4)).batch, 16);
    QCOMPARE(schedule->next(at_step(5)).batch, 19);
    QCOMPARE(schedule->next(at_step(6, 19)).batch, 19);
    QCOMPARE(schedule->next(at_step(10, 19)).batch, 22);
    const auto greedy = make_schedule("step:interval=1,increment=9223372036854775807", origin());
    QCOMPARE(greedy->next(at_step(1)).batch, std::numeric_limits<std::int64_t>::max());
  }

  void stepShrinks() {
    const auto schedule = make_schedule("step:interval=2,increment=-6", origin());
    QCOMPARE(schedule->next(at_step(2)).batch, 10);
    QCOMPARE(schedule->next(at_step(4, 4)).batch, -2); // the run clamps it to 1
    QCOMPARE(make_schedule("step:interval=1,increment=-9223372036854775808", origin())->next(at_step(1, -1)).batch,
             std::numeric_limits<std::int64_t>::min());
  }

  /// Compared every 10 steps with the lowest so far: a fall of less than 1 % grows the batch, one of more than 10 %
  /// shrinks it, if that is wanted.
  void plateauFollowsTheSmoothedLoss() {
    for (const bool two_way : {false, true}) {
      const auto schedule =
          make_schedule(two_way ? "plateau:factor=4,patience=10,shrink=3" : "plateau:factor=4,patience=10", origin());
      QVERIFY(schedule->needs_feedback());
      std::int64_t batch = 16;
      auto after_ten = [&, step = std::int64_t{0}](double loss_ema) mutable {
        for (int i = 0; i < 10; ++i) {
          ScheduleState state = at_step(++step, batch);
          state.loss_ema = loss_ema;
          batch = schedule->next(state).batch;
        }
        return batch;
      };
      QCOMPARE(after_ten(2.0), 16); // nothing to compare with yet
      QCOMPARE(after_ten(1.0), 16); // the first batch is not made smaller
      QCOMPARE(after_ten(0.995), 64);
      QCOMPARE(after_ten(1.5), 256);
      QCOMPARE(after_ten(0.98), 256);
      QCOMPARE(after_ten(0.5), two_way ? 85 : 256);
      QCOMPARE(after_ten(0.4), two_way ? 28 : 256);
      QCOMPARE(after_ten(0.3), two_way ? 16 : 256);
      QCOMPARE(after_ten(std::numeric_limits<double>::quiet_NaN()), two_way ? 16 : 256);
    }
  }

  void noiseFollowsTheNoiseScale() {
    const auto schedule = make_schedule("noise:multiplier=0.5,every=10", origin());
    QVERIFY(schedule->needs_feedback() && schedule->needs_noise());
    const auto batch_after = [&](std::int64_t step, std::int64_t batch, double scale) {
      ScheduleState state = at_step(step, batch);
      state.batches_in_step = 4; // 0.5 * scale examples are 0.125 * scale in each of the four
      if (scale > 0)
        state.noise = {.squared = 2, .variance = 2 * scale};
      return schedule->next(state).batch;
    };
    QCOMPARE(batch_after(10, 16, 0), 16); // unknown
    QCOMPARE(batch_after(9, 16, 200), 16);
    QCOMPARE(batch_after(10, 16, 200), 25);
    QCOMPARE(batch_after(20, 16, 4000), 32); // at most twice as much at once
    QCOMPARE(batch_after(30, 16, 8), 8);
    QCOMPARE(batch_after(40, 1, 8), 1);
    QVERIFY(make_schedule("edited:1-2=8,base=noise:multiplier=1", origin())->needs_noise());
    const auto formula = make_schedule("formula:min(noise_scale, 64)", origin());
    QVERIFY(formula->needs_noise() && formula->needs_feedback());
    QCOMPARE(formula->next(at_step(1, 16)).batch, 16);
    QVERIFY(formula->next(at_step(1, 16)).problem.empty());
    ScheduleState measured = at_step(2, 16);
    measured.noise = {.squared = 0.5, .variance = 20};
    QCOMPARE(formula->next(measured).batch, 40);
  }

  void linearReachesItsMax() {
    const auto schedule = make_schedule("linear:max=64,epochs=10", origin());
    QCOMPARE(schedule->next(at_epoch(0)).batch, 16);
    QCOMPARE(schedule->next(at_epoch(2.5)).batch, 28);
    QCOMPARE(schedule->next(at_epoch(9.99)).batch, 63);
    QCOMPARE(schedule->next(at_epoch(10)).batch, 64);
    QCOMPARE(schedule->next(at_epoch(11)).batch, 64);
  }

  void exponentialReachesItsMaxWithoutRoundingErrors() {
    const auto schedule = make_schedule("exponential:max=64,epochs=10", origin());
    QCOMPARE(schedule->next(at_epoch(5)).batch, 32);
    QCOMPARE(schedule->next(at_epoch(4.999)).batch, 31);
    QCOMPARE(schedule->next(at_epoch(10)).batch, 64);
    // Every power of two on the way is met exactly: base * 2^i after i of n epochs.
    for (std::int64_t doublings = 1; doublings <= 30; ++doublings) {
      const std::string text =
          "exponential:max=" + std::to_string(std::int64_t{3} << doublings) + ",epochs=" + std::to_string(doublings);
      const auto power = make_schedule(text, origin(3));
      for (std::int64_t i = 0; i <= doublings; ++i)
        QCOMPARE(power->next(at_epoch(static_cast<double>(i))).batch, std::int64_t{3} << i);
    }
  }

  void rampsCountInTheirOwnUnit() {
    ScheduleState state = at_step(50);
    state.examples_seen = 500;
    state.tokens_seen = 5000;
    state.epochs_passed = 0.5;
    state.progress = 0.5;
    for (const char* length : {"", ",epochs=1", ",steps=100", ",examples=1000", ",tokens=10000"}) {
      const auto schedule = make_schedule(std::string("linear:max=64") + length, origin());
      QVERIFY2(schedule->next(state).batch == 40, length);
      QCOMPARE(schedule->needs_feedback(), std::string(length).find("tokens") != std::string::npos);
    }
  }

  void rampsOverTokensNeedExamplesThatHaveThem() {
    ScheduleOrigin images = origin();
    images.has_tokens = false;
    for (const char* kind : {"linear", "exponential"}) {
      make_schedule(std::string(kind) + ":max=64,examples=10000", images);
      QVERIFY_THROWS_EXCEPTION(Error, make_schedule(std::string(kind) + ":max=64,tokens=10000", images));
    }
  }

  void knowsWhoNamesItsFirstBatch() {
    const std::optional<std::int64_t> any;
    QCOMPARE(first_batch_of("piecewise:0=16,100=32"), std::optional<std::int64_t>(16));
    QCOMPARE(first_batch_of("piecewise:00=8"), std::optional<std::int64_t>(8));
    QCOMPARE(first_batch_of("piecewise:100=32"), any);
    QCOMPARE(first_batch_of("linear:max=64"), any);
    QCOMPARE(first_batch_of("formula:min(batch, 16)"), any);
    QVERIFY_THROWS_EXCEPTION(Error, first_batch_of("piecewise:0=none"));
  }

  void rampsCountFromTheirOrigin() {
    ScheduleOrigin late = origin();
    late.state = at_progress(0.5);
    const auto rest = make_schedule("linear:max=64", late);
    QCOMPARE(rest->next(at_progress(0.5)).batch, 16);
    QCOMPARE(rest->next(at_progress(0.75)).batch, 40);
    QCOMPARE(rest->next(at_progress(1)).batch, 64);
    late.state = at_step(150);
    const auto piecewise = make_schedule("piecewise:0=8,200=64", late);
    QCOMPARE(piecewise->next(at_step(151)).batch, 8);
    QCOMPARE(piecewise->next(at_step(200)).batch, 64);
  }

  void piecewiseChangesAtItsSteps() {
    const auto schedule = make_schedule("piecewise:0=16,100=32,250=8", origin());
    QCOMPARE(schedule->next(at_step(1)).batch, 16);
    QCOMPARE(schedule->next(at_step(99)).batch, 16);
    QCOMPARE(schedule->next(at_step(100)).batch, 32);
    QCOMPARE(schedule->next(at_step(249)).batch, 32);
    QCOMPARE(schedule->next(at_step(250)).batch, 8);
    QCOMPARE(make_schedule("piecewise:100=32", origin())->next(at_step(1)).batch, 16);
  }

  void adaBatchMultipliesEveryFewEpochs() {
    const auto schedule = make_schedule("adabatch:factor=2,every=2,lr-decay=0.375", origin());
    QCOMPARE(schedule->next(at_epoch(1.99)).batch, 16);
    QCOMPARE(schedule->next(at_epoch(2)).batch, 32);
    QCOMPARE(schedule->next(at_epoch(5)).batch, 64);
    QCOMPARE(schedule->learning_rate_factor(at_epoch(1)), 1.0);
    QCOMPARE(schedule->learning_rate_factor(at_epoch(4)), 0.375 * 0.375);
    QCOMPARE(schedule->next(at_epoch(1e6)).batch, std::numeric_limits<std::int64_t>::max());
    const auto plain = make_schedule("adabatch:factor=1.5,every=0.5", origin(10));
    QCOMPARE(plain->next(at_epoch(0.5)).batch, 15);
    QCOMPARE(plain->next(at_epoch(1)).batch, 22);
    QCOMPARE(plain->learning_rate_factor(at_epoch(1)), 1.0);
  }

  void formulasSeeTheState() {
    ScheduleState state = at_step(7, 20);
    state.epoch = 1.5;
    state.coverage = 0.5;
    state.progress = 0.25;
    state.loss = 3;
    state.loss_ema = 4;
    state.vram_fraction = 0.75;
    const std::pair<const char*, std::int64_t> cases[] = {{"min(batch + 1, 64)", 21},
                                                          {"step * 3", 21},
                                                          {"1 + 10 * epoch", 16},
                                                          {"1 + 10 * coverage", 6},
                                                          {"1 + 100 * progress", 26},
                                                          {"loss * loss_ema", 12},
                                                          {"8 * vram_fraction", 6},
                                                          {"max_batch / 2", 2048},
                                                          {"1.999", 1},
                                                          {"16 * 4 ^ 0.5", 32},
                                                          {"step >= 7 ? 5 : 6", 5},
                                                          {"step != 7 ? 5 : 6", 6},
                                                          {"1e300", INT64_MAX},
                                                          {"step == 7 && 1 ? 9 : 8", 9}};
    for (const auto& [formula, expected] : cases) {
      const auto schedule = make_schedule(std::string("formula:") + formula, origin());
      const ScheduleAnswer answer = schedule->next(state);
      QVERIFY2(answer.problem.empty(), formula);
      QVERIFY2(answer.batch == expected, formula);
      QCOMPARE(schedule->text(), std::string("formula:") + formula);
    }
  }

  void knowsWhichFormulasNeedFeedback() {
    for (const char* formula : {"loss", "loss_ema + 1", "2 + vram_fraction"})
      QVERIFY(make_schedule(std::string("formula:") + formula, origin())->needs_feedback());
    for (const char* formula : {"batch", "step + epoch", "max_batch", "1 + progress + coverage"})
      QVERIFY(!make_schedule(std::string("formula:") + formula, origin())->needs_feedback());
  }

  void formulasThatTurnBadKeepTheSize() {
    const auto schedule = make_schedule("formula:100 / (step - 5)^2", origin());
    QVERIFY(schedule->next(at_step(4)).problem.empty());
    const ScheduleAnswer answer = schedule->next(at_step(5, 24));
    QCOMPARE(answer.batch, 24);
    QVERIFY(!answer.problem.empty());
    QVERIFY(!schedule->next(at_step(50)).problem.empty());
  }

  void textMakesTheSameScheduleAgain() {
    for (const char* text :
         {"constant", "step:interval=5,increment=1", "linear:max=64,epochs=10", "exponential:max=64",
          "piecewise:0=16,100=32", "adabatch:factor=2,every=2,lr-decay=0.375", "formula:min(batch + 1, 64)"})
      QCOMPARE(make_schedule(text, origin())->text(), std::string(text));
  }

  void refusesBadTexts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* text, const char* words) { QTest::newRow(text) << text << words; };
    row("", "schedule");
    row("nonsense", "unknown schedule 'nonsense'");
    row("nonsense:16", "unknown schedule 'nonsense:16'");
    row("linear:64", "schedule 'linear:64': \"64\" is not a parameter; accepted: linear:max=64");
    row("constant:batch=5", "takes no parameters");
    row("step:interval=5", "'increment=' is missing");
    row("step:interval=0,increment=1", "interval");
    row("step:interval=5,increment=0", "increment");
    row("plateau:factor=1", "above 1");
    row("plateau:shrink=0.5", "above 1");
    row("plateau:patience=0", "patience");
    row("noise:multiplier=0", "multiplier");
    row("noise:every=0", "every");
    row("step:interval=5,increment=1,by=2", "unknown key 'by'");
    row("step:interval=5.5,increment=1", "5.5");
    row("linear:epochs=5", "'max=' is missing");
    row("linear:max=15", "below the first batch");
    row("linear:max=0", "max");
    row("linear:max=64,epochs=0", "epochs");
    row("linear:max=64,steps=-3", "steps");
    row("linear:max=64,epochs=nan", "epochs");
    row("linear:max=64,epochs=1,steps=5", "more than one length");
    row("exponential:max=64,length=5", "unknown key 'length'");
    row("exponential:max=8,epochs=2", "below the first batch");
    row("piecewise", "no pieces");
    row("piecewise:0=8,100=32", "differs from the first batch");
    row("piecewise:0=16,100=32,100=64", "100");
    row("piecewise:0=16,100=32,50=64", "steps must increase");
    row("piecewise:0=16,100=0", "batch from step 100");
    row("piecewise:-1=16", "-1");
    row("adabatch:factor=2", "'every=' is missing");
    row("adabatch:factor=-2,every=2", "factor");
    row("adabatch:factor=2,every=0", "every");
    row("adabatch:factor=2,every=1,lr-decay=0", "lr-decay");
    row("formula:", "empty");
    row("formula:min(batch + 1", "missing closing parenthesis");
    row("formula:batch + ", "unexpected end");
    row("formula:batch + * 2", "position 9");
    row("formula:batch + bogus", "'bogus' at position 9");
    row("formula:bogus(2)", "'bogus' at position 1");
    row("formula:batch, 64", "several values");
    row("formula:batch = 64", "position 7");
    row("formula:1 / 0", "inf");
    row("formula:1 / (step - 1)", "inf");
    row("formula:0 / 0", "gives no number");
    row("formula:0.5", "0.5");
    row("formula:0 - batch", "-16");
    row("formula:\"text\"", "position");
    row("formula:batch )", "position");
  }
  void refusesBadTexts() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    try {
      make_schedule(text.toStdString(), origin());
      QFAIL("accepted");
    } catch (const Error& e) {
      QCOMPARE(e.kind(), Error::Kind::input);
      QVERIFY2(QString(e.what()).contains(words), e.what());
      QVERIFY2(!QString(e.what()).contains('\n'), e.what());
    }
  }
};

BATCHSCOPE_TEST(BatchScheduleTest)
#include "tst_batch_schedule.moc"
