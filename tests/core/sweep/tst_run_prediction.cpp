#include "core/sweep/run_prediction.h"

#include <QTest>

#include "core/run/engine.h"
#include "core/sweep/sweep_spec.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::sweep;

namespace {

SweepSpec small() {
  SweepSpec spec;
  spec.base.model = "mlp:hidden=256";
  spec.base.data = "synthetic:examples=4000,shape=1x16x16,classes=4";
  spec.base.memory_budget = 10'000'000;
  return spec;
}

store::RunRow finished(std::int64_t batch, double rate) {
  const SweepSpec spec = small();
  store::RunRow row;
  row.settings.model = spec.base.model;
  row.settings.data = spec.base.data;
  row.settings.schedule = spec.base.schedule;
  row.settings.optimizer = spec.base.optimizer;
  row.settings.device = spec.base.device;
  row.outcome.status = telemetry::RunStatus::finished;
  row.outcome.batch = batch;
  row.outcome.examples_per_second = rate;
  return row;
}

} // namespace

class TestRunPrediction : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void memoryIsThatOfTheRun();
  void sharesAreOfTheLargest();
  void whatCannotRunSaysWhy();
  void timesComeFromEarlierRuns();
};

/// The prediction beside what a step really takes.
void TestRunPrediction::memoryIsThatOfTheRun() {
  SweepSpec spec = small();
  spec.vary = {parse_variation("batch=16,300,3000")};
  data::DataPool pool;
  const auto runs = combinations(spec);
  const auto predictions = predict_runs(runs, pool, {});
  QCOMPARE(predictions.size(), std::size_t{3});
  for (std::size_t i = 0; i < 2; ++i) {
    QVERIFY(predictions[i].fits && predictions[i].peak_bytes);
    const auto session = run::open_session(runs[i]);
    const auto result = session->find({.strategy = "doubling", .start = *predictions[i].batch, .timings = false});
    QCOMPARE(result.probes.front().batch, *predictions[i].batch);
    const auto peak = static_cast<double>(*result.probes.front().peak_bytes);
    QVERIFY(std::abs(static_cast<double>(*predictions[i].peak_bytes) / peak - 1) <
            0.002); // between points of the curve
  }
  QVERIFY(!predictions[2].fits);
  QVERIFY(*predictions[2].peak_bytes > spec.base.memory_budget);
}

void TestRunPrediction::sharesAreOfTheLargest() {
  SweepSpec spec = small();
  spec.vary = {parse_variation("batch=100%,50%,25%,auto,auto:safe")};
  data::DataPool pool;
  const auto predictions = predict_runs(combinations(spec), pool, {});
  const std::int64_t largest = *predictions[0].batch;
  QVERIFY(predictions[0].fits);
  QCOMPARE(*predictions[1].batch, largest / 2);
  QCOMPARE(*predictions[2].batch, largest / 4);
  QVERIFY(!predictions[3].batch && !predictions[3].peak_bytes); // timings decide
  QVERIFY(*predictions[4].batch < largest);
  // The search that the run makes comes to the same.
  const auto session = run::open_session(combinations(spec).front());
  QCOMPARE(*session->find({.timings = false}).largest, largest);
}

void TestRunPrediction::whatCannotRunSaysWhy() {
  SweepSpec spec = small();
  spec.vary = {parse_variation("batch=16,5000")};
  data::DataPool pool;
  const auto predictions = predict_runs(combinations(spec), pool, {});
  QVERIFY(predictions[0].problem.empty());
  QVERIFY2(predictions[1].problem.find("5000") != std::string::npos, predictions[1].problem.c_str());
}

void TestRunPrediction::timesComeFromEarlierRuns() {
  store::RunRow beside_others = finished(16, 1);
  beside_others.workers = 2;
  const Throughputs known(
      {finished(16, 1000), finished(16, 1200), finished(16, 1100), finished(64, 3200), beside_others});
  run::RunSpec spec = small().base;
  QCOMPARE(*known.examples_per_second(spec, 16), 1100.0);
  QCOMPARE(*known.examples_per_second(spec, 8), 1100.0);
  QCOMPARE(*known.examples_per_second(spec, 500), 3200.0);
  // Half way between the seconds of a step: 16 / 1100 and 64 / 3200.
  QCOMPARE(*known.examples_per_second(spec, 40), 40 / ((16.0 / 1100 + 64.0 / 3200) / 2));
  spec.model = "mlp:hidden=8";
  QVERIFY(!known.examples_per_second(spec, 16));
  spec = small().base;
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 64};
  spec.length = {.epochs = 2, .examples = {}, .steps = {}};
  data::DataPool pool;
  QCOMPARE(*predict_runs({spec}, pool, known).front().seconds, 2 * 3200.0 / 3200); // a fifth of the examples validates
  spec.length = {.epochs = {}, .examples = {}, .steps = 100};
  QCOMPARE(*predict_runs({spec}, pool, known).front().seconds, 2.0);
  QVERIFY(!predict_runs({spec}, pool, {}).front().seconds);
}

BATCHSCOPE_TEST(TestRunPrediction)
#include "tst_run_prediction.moc"
