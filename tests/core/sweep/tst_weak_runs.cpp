#include "core/sweep/weak_runs.h"

#include <cmath>
#include <limits>

#include <QTest>

#include "core/run/engine.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

const schedule::RunLength hundred_steps{.epochs = {}, .examples = {}, .steps = 100};

/// A run of 100 steps whose loss is `loss` everywhere; stops where `weak` ends it.
std::pair<LossCurve, std::optional<std::string>> run_with(double loss, const WeakRuns& weak) {
  LossCurve curve(hundred_steps);
  for (std::int64_t step = 1; step <= 100; ++step) {
    telemetry::StepRecord record;
    record.step = step;
    record.loss = loss;
    if (const auto part = curve.take(record))
      if (auto reason = weak.judge(curve, *part))
        return {curve, reason};
  }
  return {curve, std::nullopt};
}

} // namespace

class TestWeakRuns : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void partsAreMeans();
  void aboveTheMedianEndsEarly();
  void notANumberIsWeak();
  void inASweep();
};

void TestWeakRuns::partsAreMeans() {
  LossCurve curve(hundred_steps);
  QList<int> completed;
  for (std::int64_t step = 1; step <= 100; ++step) {
    telemetry::StepRecord record;
    record.step = step;
    record.loss = static_cast<double>(step);
    if (const auto part = curve.take(record))
      completed += *part;
  }
  QCOMPARE(completed, QList<int>({0, 1, 2, 3, 4, 5, 6, 7, 8})); // after the last one there is nothing to end
  QCOMPARE(curve.loss(0), 5.5);
  QCOMPARE(curve.loss(9), 95.5);
  // Few large steps: parts without one have no loss.
  LossCurve coarse({.epochs = {}, .examples = {}, .steps = 2});
  telemetry::StepRecord record;
  record.step = 1;
  record.loss = 3;
  QVERIFY(coarse.take(record));
  QVERIFY(std::isnan(coarse.loss(0)));
  QCOMPARE(coarse.loss(4), 3.0);
}

void TestWeakRuns::aboveTheMedianEndsEarly() {
  WeakRuns weak;
  for (const double loss : {1.0, 2.0, 3.0}) {
    QVERIFY(!run_with(100, weak).second); // too few to compare with
    weak.add_finished(run_with(loss, weak).first);
  }
  weak.add_finished(run_with(4.0, weak).first);
  QVERIFY(!run_with(2.5, weak).second); // the median itself is good enough
  const auto reason = run_with(2.6, weak).second;
  QVERIFY(reason);
  QCOMPARE(QString::fromStdString(*reason),
           QString("ended early: its training loss at 40 % was 2.6, above the median 2.5 of 4 finished runs"));
}

void TestWeakRuns::notANumberIsWeak() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  WeakRuns weak;
  for (const double loss : {1.0, 2.0, 3.0, 4.0})
    weak.add_finished(run_with(loss, weak).first);
  QVERIFY(run_with(nan, weak).second);
}

/// Rates from good to absurd: those that come last, the worst, end early, and a resumed sweep leaves them alone.
void TestWeakRuns::inASweep() {
  const store::test::Folder folder;
  SweepSpec spec;
  spec.base.model = "mlp:hidden=16";
  spec.base.data = "synthetic:examples=400,shape=1x8x8,classes=4";
  spec.base.memory_budget = 50'000'000;
  spec.base.batch = {.kind = run::BatchChoice::Kind::number, .number = 16};
  spec.base.optimizer = "sgd";
  spec.base.length = {.epochs = 3, .examples = {}, .steps = {}};
  spec.vary = {parse_variation("lr=0.05,0.06,0.07,0.08,1e-7")};
  spec.stop_weak = StopWeak::median;
  store::RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  SweepWatch watch;
  const auto result = run_sweep(plan_sweep(spec), sweep, store, watch, std::make_shared<run::JobControl>());
  QCOMPARE(result.finished, std::int64_t{4});
  QVERIFY(!result.stopped);
  const store::RunReader reader(folder.file());
  const auto last = reader.run(5).outcome;
  QCOMPARE(last.status, telemetry::RunStatus::stopped);
  QVERIFY2(QString::fromStdString(last.reason).startsWith("ended early: its training loss at 40 %"),
           last.reason.c_str());
  QCOMPARE(last.steps, std::int64_t{25}); // 40 % of 60 steps, and the one that shows that they are over
  for (const PlannedRun& planned : plan_rest(reader, sweep).runs)
    QVERIFY(planned.run);
}

BATCHSCOPE_TEST(TestWeakRuns)
#include "tst_weak_runs.moc"
