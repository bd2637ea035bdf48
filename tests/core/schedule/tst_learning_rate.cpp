#include <QTest>

#include "core/base/error.h"
#include "core/schedule/learning_rate.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

class LearningRateTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void batchNormMomentumFollowsTheMicroBatch() {
    QCOMPARE(scaled_batch_norm_momentum(1), 0.1);
    QCOMPARE(scaled_batch_norm_momentum(1024), 0.1);
    QCOMPARE(scaled_batch_norm_momentum(2048), 0.05);
    QCOMPARE(scaled_batch_norm_momentum(8192), 0.0125);
  }

  void scalesByTheRule() {
    QCOMPARE(scaled_rate(0.1, LearningRateRule::none, 512, 32), 0.1);
    QCOMPARE(scaled_rate(0.1, LearningRateRule::linear, 512, 32), 1.6);
    QCOMPARE(scaled_rate(0.1, LearningRateRule::square_root, 512, 32), 0.4);
    QCOMPARE(scaled_rate(0.1, LearningRateRule::linear, 16, 32), 0.05);
  }

  void warmsUpFromZero() {
    LearningRate rate({.base = 0.4, .warmup_steps = 4});
    for (int step = 0; step < 6; ++step)
      QCOMPARE(rate.next(step, step / 10.0, 1), 0.4 * std::min(step, 4) / 4);
  }

  void decaysOverWhatTheWarmUpLeaves_data() {
    QTest::addColumn<int>("decay");
    QTest::addColumn<QList<double>>("rates");
    // Ten steps, two of them warm-up: shares 0, 1/8 ... 7/8 of the rest.
    QTest::newRow("constant") << int(LearningRateDecay::constant) << QList<double>{1, 1, 1, 1, 1, 1, 1, 1};
    QTest::newRow("linear") << int(LearningRateDecay::linear) << QList<double>{1, .875, .75, .625, .5, .375, .25, .125};
    QTest::newRow("cosine") << int(LearningRateDecay::cosine)
                            << QList<double>{1, .96193976, .85355339, .69134172, .5, .30865828, .14644661, .03806023};
    QTest::newRow("step") << int(LearningRateDecay::step) << QList<double>{1, 1, 1, .1, .1, .1, .01, .01};
  }
  void decaysOverWhatTheWarmUpLeaves() {
    QFETCH(int, decay);
    QFETCH(QList<double>, rates);
    LearningRate rate({.base = 1, .decay = LearningRateDecay(decay), .warmup_steps = 2});
    for (int step = 0; step < 10; ++step) {
      const double given = rate.next(step, step / 10.0, 1);
      const double expected = step < 2 ? step / 2.0 : rates[step - 2];
      QVERIFY2(std::abs(given - expected) < 1e-8, qPrintable(QStringLiteral("step %1: %2").arg(step).arg(given)));
    }
  }

  void dropsExactlyAtTheThirds() {
    for (int steps : {3, 6, 9, 30, 99, 999}) {
      LearningRate rate({.base = 1, .decay = LearningRateDecay::step});
      for (int step = 0; step < steps; ++step) {
        const double expected = step * 3 < steps ? 1 : step * 3 < 2 * steps ? 0.1 : 0.01;
        QVERIFY(std::abs(rate.next(step, double(step) / steps, 1) - expected) < 1e-12);
      }
    }
  }

  void findsTheWarmUpLength() {
    QCOMPARE(automatic_warmup(1, 10'000), 0);
    QCOMPARE(automatic_warmup(2, 10'000), 0);
    QCOMPARE(automatic_warmup(0.25, 10'000), 0);
    QCOMPARE(automatic_warmup(4, 1000), 200);
    QCOMPARE(automatic_warmup(8, 1000), 300);
    QCOMPARE(automatic_warmup(8, 100'000), 5000);
  }

  void scalesRegularization() {
    QCOMPARE(scaled_weight_decay(0.01, RegularizationRule::square_root, 512, 32), 0.04);
    QCOMPARE(scaled_weight_decay(0.01, RegularizationRule::none, 512, 32), 0.01);
    QCOMPARE(scaled_dropout(0.1, RegularizationRule::square_root, 512, 32), 0.4);
    QCOMPARE(scaled_dropout(0.2, RegularizationRule::square_root, 512, 32), 0.5);
    QCOMPARE(scaled_dropout(0.6, RegularizationRule::square_root, 512, 32), 0.6);
    QCOMPARE(scaled_dropout(0.2, RegularizationRule::none, 512, 32), 0.2);
  }

  void readsNames() {
    QCOMPARE(parse_rule("sqrt"), LearningRateRule::square_root);
    QCOMPARE(parse_decay("cosine"), LearningRateDecay::cosine);
    QCOMPARE(parse_regularization("sqrt"), RegularizationRule::square_root);
    QVERIFY_THROWS_EXCEPTION(Error, parse_rule("cubic"));
    QVERIFY_THROWS_EXCEPTION(Error, parse_decay("exponential"));
    QVERIFY_THROWS_EXCEPTION(Error, parse_regularization(""));
  }
};

BATCHSCOPE_TEST(LearningRateTest)
#include "tst_learning_rate.moc"
