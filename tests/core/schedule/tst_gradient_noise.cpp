#include "core/schedule/gradient_noise.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <QTest>

#include "core/schedule/learning_rate.h"
#include "core/schedule/progression.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::schedule;

namespace {

GradientNoise measured(const GradientNorms& norms) {
  GradientNoise noise;
  noise.add(norms);
  return noise;
}

/// A run of AdaScale at `scale` times the reference batch, with this noise measured before its first step.
std::int64_t steps_made(double scale, const GradientNorms& norms, RunLength length) {
  ProgressionOptions options;
  options.sampler = {.examples = 100'000, .ranks = 1, .accumulate = 1, .effective_batch = {}, .drop_last = false};
  options.length = length;
  options.batch = std::llround(8 * scale);
  options.learning_rate = {.base = 0.1, .rule = LearningRateRule::adascale, .reference_batch = 8};
  Progression progression(options);
  progression.add_gradient_norms(norms);
  double last_rate = 0;
  double last_progress = 0;
  while (const auto step = progression.next()) {
    last_rate = step->learning_rate;
    last_progress = step->progress;
    progression.done();
  }
  if (length.steps && (last_progress < 0 || last_progress >= 1))
    return -1;
  return last_rate > 0 ? progression.steps_done() : -1;
}

} // namespace

class TestGradientNoise : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// b 8, B 64, |g_b|^2 2, |g_B|^2 1.125: G2 1, S 8, noise scale 8.
  void workedExample() {
    const GradientNoise noise = measured({.part = 8, .whole = 64, .part_squared = 2, .whole_squared = 1.125});
    QVERIFY(std::abs(noise.variance / noise.squared - 8) < 1e-12);
    QVERIFY(std::abs(*noise.scale() - 8) < 1e-12);
    QVERIFY(std::abs(noise.gain(8, 8) - 16.0 / 9) < 1e-12); // 1.7778
  }

  void unknownIsSaid() {
    QVERIFY(!GradientNoise().scale());
    QCOMPARE(GradientNoise().gain(8, 8), 1.0);
    // The part's gradient is so much larger that none is left for the mean.
    QVERIFY(!measured({.part = 1, .whole = 2, .part_squared = 4, .whole_squared = 1}).scale());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!measured({.part = 1, .whole = 2, .part_squared = nan, .whole_squared = 1}).scale());
    // No noise at all, or less than none by chance.
    QCOMPARE(*measured({.part = 1, .whole = 2, .part_squared = 1, .whole_squared = 1}).scale(), 0.0);
    QCOMPARE(*measured({.part = 1, .whole = 2, .part_squared = 1, .whole_squared = 2}).scale(), 0.0);
  }

  void gainsOfAdaScale() {
    QCOMPARE((GradientNoise{.squared = 1e-300, .variance = 8}.gain(8, 8)), 8.0);
    QCOMPARE((GradientNoise{.squared = 1, .variance = 0}.gain(8, 8)), 1.0);
    QVERIFY(std::abs(GradientNoise{.squared = 1, .variance = 8}.gain(8, 8) - 1.7778) < 1e-4);
    QVERIFY(std::abs(GradientNoise{.squared = 1, .variance = 8}.gain(0.5, 8) - 2.0 / 3) < 1e-12); // (1 + 1) / (2 + 1)
    QCOMPARE((GradientNoise{.squared = 1, .variance = 0}.gain(0.5, 8)), 1.0);
    QCOMPARE(scaled_rate(0.1, LearningRateRule::adascale, 64, 8, {.squared = 1e-300, .variance = 8}), 0.8);
    QCOMPARE(parse_rule("adascale"), LearningRateRule::adascale);
  }

  /// A run of S steps ends when its gains add up to S; with epochs only the rate scales.
  void gainsCountAsSteps() {
    const GradientNorms half = {.part = 8, .whole = 64, .part_squared = 2, .whole_squared = 1.125}; // gain 16/9 at 8x
    QCOMPARE(steps_made(8, half, {.steps = 1000}), std::int64_t{563});                              // 1000 / (16/9)
    const GradientNorms none = {.part = 8, .whole = 64, .part_squared = 1, .whole_squared = 1};
    QCOMPARE(steps_made(8, none, {.steps = 1000}), std::int64_t{1000});
    QCOMPARE(steps_made(8, half, {.epochs = 1}), std::int64_t{1563}); // 100,000 / 64
  }

  /// Gradients of linear regression at a fixed point, whose mean and covariance are known: within 10 %.
  void agreesWithLinearRegression() {
    // y = x . w + e with x of independent standard normals; at w + d the gradient of (x . v - y)^2 / 2 is x (x . d -
    // e). Its mean is d; the trace of its covariance is (n + 1) |d|^2 + n s^2, s the deviation of e.
    constexpr int n = 20;
    constexpr double deviation = 3;
    std::vector<double> d(n);
    for (int i = 0; i < n; ++i)
      d[static_cast<std::size_t>(i)] = 0.1 * (i + 1);
    double squared = 0;
    for (const double value : d)
      squared += value * value;
    const double expected = ((n + 1) * squared + n * deviation * deviation) / squared;
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    GradientNoise noise;
    double sum_squared = 0;
    double sum_variance = 0;
    constexpr int measurements = 4000;
    for (int i = 0; i < measurements; ++i) {
      constexpr int part = 4;
      constexpr int whole = 32;
      std::vector<double> mean(n);
      GradientNorms norms{.part = part, .whole = whole};
      for (int example = 1; example <= whole; ++example) {
        std::vector<double> x(n);
        double error = -deviation * normal(random);
        for (std::size_t k = 0; k < n; ++k) {
          x[k] = normal(random);
          error += x[k] * d[k];
        }
        for (std::size_t k = 0; k < n; ++k)
          mean[k] += x[k] * error;
        if (example == part || example == whole)
          for (const double value : mean)
            (example == part ? norms.part_squared : norms.whole_squared) += value * value / example / example;
      }
      noise.add(norms);
      sum_squared += noise.squared;
      sum_variance += noise.variance;
    }
    const double found = sum_variance / sum_squared;
    QVERIFY2(std::abs(found / expected - 1) < 0.1, qPrintable(QString("%1 for %2").arg(found).arg(expected)));
  }
};

BATCHSCOPE_TEST(TestGradientNoise)
#include "tst_gradient_noise.moc"
