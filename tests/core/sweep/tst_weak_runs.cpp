#include "core/sweep/weak_runs.h"

#include <cmath>
#include <limits>

#include <QTest>

#include "core/run/engine.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/finished_runs.h"
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
  void finishedEarlier();
  void finishedByOthers_data();
  void finishedByOthers();
  void othersFinishWhileARunTrains();
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

namespace {

SweepSpec rates_of(const std::string& rates) {
  SweepSpec spec;
  spec.base.model = "mlp:hidden=16";
  spec.base.data = "synthetic:examples=400,shape=1x8x8,classes=4";
  spec.base.memory_budget = 50'000'000;
  spec.base.batch = {.kind = run::BatchChoice::Kind::number, .number = 16};
  spec.base.optimizer = "sgd";
  spec.base.length = {.epochs = 3, .examples = {}, .steps = {}};
  spec.vary = {parse_values("lr", rates)};
  spec.stop_weak = StopWeak::median;
  return spec;
}

} // namespace

/// Rates from good to absurd: those that come last, the worst, end early, and a resumed sweep leaves them alone.
void TestWeakRuns::inASweep() {
  const store::test::Folder folder;
  const SweepSpec spec = rates_of("0.05,0.06,0.07,0.08,1e-7");
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

/// What an earlier program of the sweep finished counts: what is added to the sweep later is compared with it.
void TestWeakRuns::finishedEarlier() {
  const store::test::Folder folder;
  const SweepSpec spec = rates_of("0.05,0.06,0.07,0.08");
  store::RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep(to_json(spec));
  SweepWatch watch;
  run_sweep(plan_sweep(spec), sweep, store, watch, std::make_shared<run::JobControl>());
  const store::RunReader reader(folder.file());
  const auto result = run_sweep(plan_rest(reader, sweep, {.values = {parse_variation("lr=1e-7")}}), sweep, store, watch,
                                std::make_shared<run::JobControl>());
  QCOMPARE(result.runs.size(), std::size_t{5});
  QCOMPARE(result.finished, std::int64_t{0});
  QCOMPARE(reader.run(5).outcome.steps, std::int64_t{25});
}

namespace {

/// Stores a run of 100 steps whose loss is `loss` everywhere.
std::int64_t store_run(store::RunStore& store, std::int64_t sweep, const schedule::RunLength& length, double loss,
                       telemetry::RunStatus status) {
  run::RunSpec spec;
  spec.length = length;
  store::NewRun run;
  run.sweep = sweep;
  run.spec_json = run::to_json(spec);
  const auto writer = store.begin(run);
  for (std::int64_t step = 1; step <= 100; ++step) {
    telemetry::StepRecord record;
    record.step = step;
    record.examples_seen = 10 * step;
    record.epoch = static_cast<double>(step) / 50;
    record.loss = loss;
    writer->sink().record(record);
  }
  writer->finish(store::test::outcome(status));
  return writer->id();
}

} // namespace

void TestWeakRuns::finishedByOthers_data() {
  QTest::addColumn<QString>("length");
  for (const char* length : {"steps", "examples", "epochs"})
    QTest::newRow(length) << QString(length);
}

void TestWeakRuns::finishedByOthers() {
  QFETCH(QString, length);
  const schedule::RunLength whole = length == "steps" ? hundred_steps
                                    : length == "examples"
                                        ? schedule::RunLength{.epochs = {}, .examples = 1000, .steps = {}}
                                        : schedule::RunLength{.epochs = 2, .examples = {}, .steps = {}};
  const store::test::Folder folder;
  store::RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  const std::int64_t another = store.add_sweep("{}");
  using telemetry::RunStatus;
  for (const double loss : {1.0, 2.0, 3.0, 4.0})
    store_run(store, sweep, whole, loss, RunStatus::finished);
  store_run(store, sweep, whole, 100, RunStatus::failed);
  store_run(store, another, whole, 100, RunStatus::finished);
  const std::int64_t deleted = store_run(store, sweep, whole, 100, RunStatus::finished);
  FinishedRuns runs(folder.file(), sweep, std::nullopt);
  QCOMPARE(runs.known()->finished(), std::size_t{0});
  runs.refresh();
  QCOMPARE(runs.known()->finished(), std::size_t{5});
  store.set_deleted({deleted}, true);
  runs.refresh();
  QCOMPARE(runs.known()->finished(), std::size_t{4});
  QVERIFY(!run_with(2.5, *runs.known()).second);
  const auto reason = run_with(2.6, *runs.known()).second;
  QVERIFY(reason);
  QCOMPARE(QString::fromStdString(*reason),
           QString("ended early: its training loss at 40 % was 2.6, above the median 2.5 of 4 finished runs"));
}

void TestWeakRuns::othersFinishWhileARunTrains() {
  const store::test::Folder folder;
  store::RunStore store(folder.file());
  const std::int64_t sweep = store.add_sweep("{}");
  const FinishedRuns runs(folder.file(), sweep, std::chrono::milliseconds(1));
  for (std::size_t finished = 1; finished <= 3; ++finished) {
    store_run(store, sweep, hundred_steps, 1, telemetry::RunStatus::finished);
    QTRY_COMPARE_WITH_TIMEOUT(runs.known()->finished(), finished, 60'000);
  }
}

BATCHSCOPE_TEST(TestWeakRuns)
#include "tst_weak_runs.moc"
