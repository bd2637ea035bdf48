#include "core/advice/rescale.h"

#include <cmath>

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::advice;

/// The rules for another effective batch, against the numbers of the documents and papers that state them.
class TestRescale : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void learningRate_data();
  void learningRate();
  void adascale();
  void warmup_data();
  void warmup();
  void regularization();
  void adam();
  void averagedWeights();
  void length();
  void intervals();
  void sameBatchOtherwiseSplit();
  void refused_data();
  void refused();
};

namespace {

RescaledValue value_of(const Rescaled& rescaled, const std::string& key) {
  for (const RescaledValue& value : rescaled.values)
    if (value.key == key)
      return value;
  return {};
}

Recipe recipe(const char* text) {
  return parse_recipe(text, "--from");
}

Rescaled rescaled(const Recipe& recipe, const char* to) {
  return rescale(recipe, parse_sizes(to, "--to"));
}

} // namespace

void TestRescale::learningRate_data() {
  QTest::addColumn<QString>("from");
  QTest::addColumn<QString>("to");
  QTest::addColumn<QString>("optimizer");
  QTest::addColumn<double>("rate");
  QTest::newRow("trade-offs, pattern 2") << "32,1,1,0.001"
                                         << "128,1,1"
                                         << "" << 0.004;
  QTest::newRow("ResNet-50") << "256,1,1,0.1"
                             << "1024,1,1"
                             << "sgd" << 0.4;
  QTest::newRow("Goyal et al., 256 ranks") << "32,1,8,0.1"
                                           << "32,1,256"
                                           << "sgd" << 3.2;
  QTest::newRow("pattern 3, accumulation counts") << "32,1,1,0.1"
                                                  << "32,8,1"
                                                  << "sgd" << 0.8;
  QTest::newRow("pitfall 4") << "32,1,1,0.001"
                             << "32,8,1"
                             << "" << 0.008;
  QTest::newRow("square root") << "32,1,1,0.001"
                               << "128,1,1"
                               << "adamw" << 0.002;
  QTest::newRow("smaller") << "128,1,1,0.004"
                           << "32,1,1"
                           << "sgd" << 0.001;
}

void TestRescale::learningRate() {
  QFETCH(QString, from);
  QFETCH(QString, to);
  QFETCH(QString, optimizer);
  QFETCH(double, rate);
  Recipe tuned = recipe(qPrintable(from));
  tuned.optimizer = optimizer.toStdString();
  const RescaledValue value = value_of(rescaled(tuned, qPrintable(to)), "learning_rate");
  QVERIFY(std::abs(*value.to / rate - 1) < 1e-12);
  QVERIFY(!value.others.empty()); // the other rule, beside it
  QVERIFY(!value.source.empty() && !value.caveat.empty());
}

/// |G|^2 = 1 and tr(S) = 8 are a noise scale of 8: from 8 to 64 examples the gain is 1.7778.
void TestRescale::adascale() {
  Recipe tuned = recipe("8,1,1,0.1");
  tuned.rule = "adascale";
  QVERIFY_EXCEPTION_THROWN(rescaled(tuned, "64,1,1"), Error);
  tuned.noise_scale = 8;
  QVERIFY(std::abs(*value_of(rescaled(tuned, "64,1,1"), "learning_rate").to - 0.17778) < 1e-5);
  Recipe moved = recipe("64,1,1,0.17777777777777778");
  moved.rule = "adascale";
  moved.noise_scale = 8;
  QVERIFY(std::abs(*value_of(rescaled(moved, "8,1,1"), "learning_rate").to - 0.1) < 1e-12); // and back
  tuned.noise_scale = 0; // no noise: a larger batch does not help
  QCOMPARE(*value_of(rescaled(tuned, "64,1,1"), "learning_rate").to, 0.1);
  tuned.rule = "linear";
  tuned.noise_scale = 8;
  QCOMPARE(value_of(rescaled(tuned, "64,1,1"), "learning_rate").others.size(), std::size_t{2});
}

void TestRescale::warmup_data() {
  QTest::addColumn<QString>("to");
  QTest::addColumn<double>("steps");
  QTest::addColumn<QString>("need");
  QTest::newRow("x2") << "128,1,1" << 0.0 << "no warm-up";
  QTest::newRow("x4") << "256,1,1" << 200.0 << "may be needed";
  QTest::newRow("x8") << "512,1,1" << 300.0 << "is needed";
  QTest::newRow("x16") << "1024,1,1" << 400.0 << "diverge";
}

void TestRescale::warmup() {
  QFETCH(QString, to);
  QFETCH(double, steps);
  QFETCH(QString, need);
  const RescaledValue value = value_of(rescaled(recipe("64,1,1,0.001"), qPrintable(to)), "warmup_steps");
  QCOMPARE(*value.to, steps);
  QVERIFY2(QString::fromStdString(value.caveat).contains(need), value.caveat.c_str());

  Recipe long_one = recipe("64,1,1,0.001"); // 5 % of its steps are more than 300
  long_one.steps = 80000;
  QCOMPARE(*value_of(rescaled(long_one, "512,1,1"), "warmup_steps").to, 500.0);
}

void TestRescale::regularization() {
  Recipe tuned = recipe("256,1,1,0.1");
  tuned.weight_decay = 0.0001;
  tuned.dropout = 0.1;
  const Rescaled doubled = rescaled(tuned, "512,1,1");
  QVERIFY(std::abs(*value_of(doubled, "weight_decay").to - 0.000141) < 5e-7); // interaction 2
  QVERIFY(std::abs(*value_of(doubled, "dropout").to - 0.1414) < 5e-5);
  QCOMPARE(*value_of(doubled, "label_smoothing").to, 0.1);
  QCOMPARE(*value_of(rescaled(tuned, "16384,1,1"), "dropout").to, 0.5); // capped, not 0.8
  tuned.dropout = 0.6;
  QCOMPARE(*value_of(rescaled(tuned, "512,1,1"), "dropout").to, 0.6); // never less with a larger batch
  tuned.weight_decay.reset();
  const RescaledValue unknown = value_of(rescaled(tuned, "1024,1,1"), "weight_decay");
  QVERIFY(!unknown.to);
  QCOMPARE(unknown.factor, 2.0);
}

void TestRescale::adam() {
  Recipe tuned = recipe("64,1,1,0.001");
  tuned.optimizer = "adamw";
  const Rescaled moved = rescaled(tuned, "256,1,1");
  QVERIFY(std::abs(*value_of(moved, "beta1").to - 0.6) < 1e-12); // 1 - 4 (1 - 0.9)
  QVERIFY(std::abs(*value_of(moved, "beta2").to - 0.996) < 1e-12);
  QVERIFY(std::abs(*value_of(moved, "epsilon").to / 5e-9 - 1) < 1e-12);
  QVERIFY(std::abs(*value_of(moved, "beta2").others.back().value - std::pow(0.999, 4)) < 1e-15);
  const RescaledValue beyond = value_of(rescaled(tuned, "1024,1,1"), "beta1"); // 1 - 16 * 0.1 is no average
  QCOMPARE(*beyond.to, 0.9);
  QVERIFY(!beyond.caveat.empty());
  tuned.rule = "linear";
  QCOMPARE(*value_of(rescaled(tuned, "256,1,1"), "beta1").to, 0.9);
}

void TestRescale::averagedWeights() {
  Recipe tuned = recipe("64,1,1,0.1");
  tuned.ema = 0.9999;
  QVERIFY(std::abs(*value_of(rescaled(tuned, "512,1,1"), "ema").to - 0.99920028) < 1e-8); // 0.9999 ^ 8
}

void TestRescale::length() {
  Recipe tuned = recipe("64,1,1,0.1"); // interaction 4: 50,000 examples, 100 epochs, x 4
  tuned.examples = 50000;
  tuned.epochs = 100;
  const Rescaled moved = rescaled(tuned, "256,1,1");
  const RescaledValue epochs = value_of(moved, "epochs");
  QCOMPARE(*epochs.to, 100.0);
  QCOMPARE(epochs.others.size(), std::size_t{3});
  QVERIFY(std::abs(*epochs.others[0].value - 150) < 1e-9);
  QVERIFY(std::abs(*epochs.others[1].value - 200) < 1e-9);
  QVERIFY(std::abs(*epochs.others[2].value - 400) < 1e-9);
  QCOMPARE(*value_of(moved, "steps_per_epoch").from, 782.0);
  QCOMPARE(*value_of(moved, "steps_per_epoch").to, 196.0);
}

void TestRescale::intervals() {
  Recipe tuned = recipe("32,1,1,0.1");
  tuned.steps = 1001;
  tuned.evaluate_every = 100;
  tuned.save_every = 3;
  const Rescaled moved = rescaled(tuned, "64,4,1");
  QCOMPARE(*value_of(moved, "steps").to, 126.0);
  QCOMPARE(*value_of(moved, "evaluate_every").to, 13.0);
  QCOMPARE(*value_of(moved, "save_every").to, 1.0);
}

/// Only the effective batch matters, not how it is made up.
void TestRescale::sameBatchOtherwiseSplit() {
  Recipe tuned = recipe("256,1,1,0.1");
  tuned.weight_decay = 0.01;
  tuned.optimizer = "adam";
  for (const RescaledValue& value : rescaled(tuned, "32,4,2").values)
    if (value.from)
      QCOMPARE(*value.to, *value.from);
}

void TestRescale::refused_data() {
  QTest::addColumn<QString>("from");
  QTest::addColumn<QString>("to");
  QTest::newRow("no rate") << "32,1,1"
                           << "64,1,1";
  QTest::newRow("rate 0") << "32,1,1,0"
                          << "64,1,1";
  QTest::newRow("batch 0") << "0,1,1,0.1"
                           << "64,1,1";
  QTest::newRow("text") << "32,1,1,0.1"
                        << "64,a,1";
  QTest::newRow("two parts") << "32,1,1,0.1"
                             << "64,1";
  QTest::newRow("too large") << "32,1,1,0.1"
                             << "1000000,1000000,2";
}

void TestRescale::refused() {
  QFETCH(QString, from);
  QFETCH(QString, to);
  QVERIFY_EXCEPTION_THROWN(rescaled(recipe(qPrintable(from)), qPrintable(to)), Error);
}

BATCHSCOPE_TEST(TestRescale)
#include "tst_rescale.moc"
