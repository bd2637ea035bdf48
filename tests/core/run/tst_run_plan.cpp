#include <QTest>

#include "core/base/error.h"
#include "core/run/run_plan.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

RunSpec spec_with(std::int64_t batch) {
  RunSpec spec;
  spec.batch = {BatchChoice::Kind::number, batch};
  return spec;
}

std::int64_t walked(const schedule::ProgressionOptions& options) {
  schedule::Progression progression(options);
  while (progression.next())
    progression.done();
  return progression.steps_done();
}

} // namespace

class TestRunPlan : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void takesEverythingFromTheSpec();
  void countsSteps_data();
  void countsSteps();
  void doesNotCountWhatCannotBeKnown();
  void doesNotCountStepsThatCountForTheirGains();
  void settlesTheWarmUp();
  void survivesAbsurdNumbers();
};

void TestRunPlan::takesEverythingFromTheSpec() {
  RunSpec spec = spec_with(8);
  spec.accumulate = 3;
  spec.drop_last = true;
  spec.schedule = "step:interval=5,increment=1";
  spec.max_batch = 20;
  spec.length = {.epochs = {}, .examples = {}, .steps = 50};
  spec.optimizer = "sgd";
  spec.lr_rule = "linear";
  spec.lr_decay = "cosine";
  spec.warmup = "7";
  const auto options = progression_options(spec, 1000, 8, 2);
  QCOMPARE(options.sampler.examples, std::int64_t{1000});
  QCOMPARE(options.sampler.ranks, std::int64_t{2});
  QCOMPARE(options.sampler.accumulate, std::int64_t{3});
  QVERIFY(options.sampler.drop_last);
  QCOMPARE(options.batch, std::int64_t{8});
  QCOMPARE(options.max_batch.value(), std::int64_t{20});
  QCOMPARE(options.schedule, spec.schedule);
  QCOMPARE(options.length.steps.value(), std::int64_t{50});
  QCOMPARE(options.learning_rate.base, 0.1); // what the spec leaves to the optimizer
  QCOMPARE(options.learning_rate.reference_batch, std::int64_t{48});
  QVERIFY(options.learning_rate.rule == schedule::LearningRateRule::linear);
  QVERIFY(options.learning_rate.decay == schedule::LearningRateDecay::cosine);
  QCOMPARE(options.learning_rate.warmup_steps, std::int64_t{7});
  spec.accumulate = 1;
  spec.effective_batch = 100;
  QCOMPARE(progression_options(spec, 1000, 8).learning_rate.reference_batch, std::int64_t{100});
  spec.lr_reference_batch = 32;
  QCOMPARE(progression_options(spec, 1000, 8).learning_rate.reference_batch, std::int64_t{32});
}

void TestRunPlan::countsSteps_data() {
  QTest::addColumn<QString>("schedule");
  QTest::addColumn<bool>("drop_last");
  for (const bool drop_last : {false, true})
    for (const char* text : {"constant", "step:interval=5,increment=1", "linear:max=64", "adabatch:factor=2,every=1"})
      QTest::addRow("%s%s", text, drop_last ? ", drop last" : "") << QString(text) << drop_last;
}

void TestRunPlan::countsSteps() {
  QFETCH(QString, schedule);
  QFETCH(bool, drop_last);
  RunSpec spec = spec_with(10);
  spec.schedule = schedule.toStdString();
  spec.drop_last = drop_last;
  spec.length = {.epochs = 3, .examples = {}, .steps = {}};
  const RunPlan plan = plan_run(spec, 505, 10);
  QCOMPARE(plan.steps.value(), walked(plan.options));
  if (schedule == "constant")
    QCOMPARE(plan.steps.value(), std::int64_t{drop_last ? 150 : 153});
}

void TestRunPlan::doesNotCountWhatCannotBeKnown() {
  RunSpec spec = spec_with(10);
  spec.schedule = "formula:batch + loss_ema";
  QVERIFY(!plan_run(spec, 500, 10).steps);
  spec.length = {.epochs = {}, .examples = {}, .steps = 12};
  QCOMPARE(plan_run(spec, 500, 10).steps.value(), std::int64_t{12});
  // Too long to walk only to know.
  spec = spec_with(1);
  spec.length = {.epochs = 1000, .examples = {}, .steps = {}};
  QVERIFY(!plan_run(spec, 1'000'000, 1).steps);
}

/// With AdaScale, only steps at the reference batch count for one each.
void TestRunPlan::doesNotCountStepsThatCountForTheirGains() {
  RunSpec spec = spec_with(10);
  spec.length = {.epochs = {}, .examples = {}, .steps = 12};
  spec.lr_rule = "adascale";
  const auto known = [&] {
    const bool planned = plan_run(spec, 500, 10).steps.has_value();
    return planned == (countable_length(spec, 10) == spec.length) ? std::optional(planned) : std::nullopt;
  };
  QCOMPARE(known(), std::optional(true)); // the first batch is the reference
  spec.lr_reference_batch = 10;
  QCOMPARE(known(), std::optional(true));
  spec.schedule = "piecewise:0=10,5=4";
  QCOMPARE(known(), std::optional(false));
  spec.schedule = "constant";
  for (const std::int64_t reference : {5, 20}) {
    spec.lr_reference_batch = reference;
    QCOMPARE(known(), std::optional(false));
  }
  spec.accumulate = 2;
  QCOMPARE(known(), std::optional(true));
  spec.accumulate = 1;
  spec.lr_rule = "linear";
  QCOMPARE(known(), std::optional(true));
  spec.lr_rule = "adascale";
  spec.length = {.epochs = 2, .examples = {}, .steps = {}}; // is counted in examples
  QCOMPARE(plan_run(spec, 500, 10).steps, std::optional<std::int64_t>(100));
  QVERIFY(countable_length(spec, 10) == spec.length);
}

/// 5 % of the steps or 100*log2(scale), whichever is more, from a change of scale above 2 on.
void TestRunPlan::settlesTheWarmUp() {
  RunSpec spec = spec_with(64);
  spec.warmup = "auto";
  spec.lr_reference_batch = 32;
  const auto warmup = [&](std::int64_t examples, std::int64_t batch) {
    return progression_options(spec, examples, batch).learning_rate.warmup_steps;
  };
  QCOMPARE(warmup(640'000, 64), std::int64_t{0});
  QCOMPARE(warmup(640'000, 128), std::int64_t{250}); // 5,000 steps
  QCOMPARE(warmup(6400, 128), std::int64_t{200});
  QCOMPARE(plan_run(spec, 640'000, 128).options.learning_rate.warmup_steps, std::int64_t{250});
  RunSpec gains = spec; // more steps or fewer: those at the reference batch
  gains.lr_rule = "adascale";
  gains.length = {.epochs = {}, .examples = {}, .steps = 10'000};
  QCOMPARE(progression_options(gains, 640'000, 128).learning_rate.warmup_steps, std::int64_t{500});
  // Where the steps cannot be known the first batch is taken to stay.
  spec.schedule = "formula:batch + loss_ema";
  QCOMPARE(warmup(640'000, 128), std::int64_t{250});
}

void TestRunPlan::survivesAbsurdNumbers() {
  RunSpec spec = spec_with(INT64_MAX);
  spec.accumulate = INT64_MAX;
  spec.length = {.epochs = INT64_MAX, .examples = {}, .steps = {}};
  progression_options(spec, INT64_MAX, INT64_MAX, INT64_MAX);
  QVERIFY_EXCEPTION_THROWN(plan_run(spec, 1000, INT64_MAX), Error);
  spec.warmup = "auto";
  QVERIFY_EXCEPTION_THROWN(progression_options(spec, INT64_MAX, INT64_MAX, INT64_MAX), Error);
}

BATCHSCOPE_TEST(TestRunPlan)
#include "tst_run_plan.moc"
