#include <QTest>

#include "core/predict/peak_curve.h"
#include "core/run/engine.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

const char* const images = "synthetic:examples=625,shape=1x16x16,classes=4";
const char* const tokens = "synthetic:examples=625,vocabulary=20";

RunSpec spec_of(const QString& model, std::int64_t batch, std::int64_t steps = 2) {
  RunSpec spec = small_spec(batch, steps);
  spec.model = model.toStdString();
  spec.data = model.startsWith("gpt") ? tokens : images;
  return spec;
}

std::optional<predict::PeakCurve> curve_for(const RunSpec& spec) {
  const auto session = run::open_session(spec);
  return session->predict_memory();
}

/// Highest peak over the steps of a run.
double real_peak(const RunSpec& spec) {
  return static_cast<double>(run_to_end(spec).outcome.peak_bytes);
}

void add_models() {
  QTest::addColumn<QString>("model");
  for (const char* model : {"mlp:hidden=256,layers=2", "cnn:width=8", "cnn:width=8,norm=batch",
                            "resnet:width=4,blocks=1", "gpt:layers=2,heads=2,width=16,context=12"})
    QTest::newRow(model) << QString(model);
}

} // namespace

/// The memory of sizes that were never run.
class TestPredictMemory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void foretellsRealRuns_data() { add_models(); }
  void foretellsRealRuns() {
    QFETCH(QString, model);
    const auto curve = curve_for(spec_of(model, 8));
    QVERIFY(curve.has_value());
    QVERIFY(curve->error() < 0.5);
    QCOMPARE(curve->points().back().batch, std::int64_t{500});
    for (const std::int64_t batch : {5, 100, 300}) {
      const double real = real_peak(spec_of(model, batch));
      const double off = static_cast<double>(curve->at(batch).bytes) / real - 1;
      qInfo("%s at %d: %+.3f %%", qPrintable(model), int(batch), 100 * off);
      QVERIFY(std::abs(off) < 0.005);
    }
  }

  /// A batch that is run as several micro batches holds the gradients of the first while it runs the others.
  void foretellsSeveralMicroBatches_data() { add_models(); }
  void foretellsSeveralMicroBatches() {
    QFETCH(QString, model);
    const auto curve = curve_for(spec_of(model, 8));
    QVERIFY(curve.has_value());
    for (const std::int64_t micro : {16, 80}) {
      RunSpec spec = spec_of(model, micro);
      spec.accumulate = 3;
      const double real = real_peak(spec);
      const double off = static_cast<double>(curve->at(micro).onto_gradients) / real - 1;
      qInfo("%s, 3 x %d: %+.3f %%", qPrintable(model), int(micro), 100 * off);
      QVERIFY(off > -0.005 && off < 0.02);
    }
  }

  void foretellsAccumulationAsItIsConfigured_data() { add_models(); }
  void foretellsAccumulationAsItIsConfigured() {
    QFETCH(QString, model);
    for (const bool named : {false, true}) {
      RunSpec spec = spec_of(model, 8);
      if (named)
        spec.effective_batch = 200;
      else
        spec.accumulate = 3;
      const auto curve = curve_for(spec);
      QVERIFY(curve.has_value());
      QCOMPARE(curve->points().back().batch, std::int64_t{named ? 200 : 500});
      for (const std::int64_t micro : {20, 50}) { // divisors of the effective batch: it is cut evenly
        spec.batch.number = micro;
        const double off = static_cast<double>(curve->at(micro).bytes) / real_peak(spec) - 1;
        QVERIFY2(std::abs(off) < 0.005, qPrintable(QString::number(100 * off)));
        const double held = static_cast<double>(curve->at(micro).onto_gradients);
        QVERIFY(held < 1.02 * static_cast<double>(curve->at(micro).bytes));
      }
    }
  }

  /// The parts that are predicted are those that the training loop comes to.
  void foretellsHowABatchIsSplit_data() { add_models(); }
  void foretellsHowABatchIsSplit() {
    QFETCH(QString, model);
    const auto curve = curve_for(spec_of(model, 8));
    QVERIFY(curve.has_value());
    // Half-way between two sizes, so that a few bytes do not decide.
    for (const std::int64_t fitting : {31, 90}) {
      RunSpec spec = spec_of(model, 240, 2);
      spec.memory_budget = (curve->at(fitting).onto_gradients + curve->at(fitting + 1).onto_gradients) / 2;
      const predict::Split split = curve->split(240, *spec.memory_budget);
      const FinishedRun finished = run_to_end(spec);
      QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
      QCOMPARE(split.micro_batches, finished.recorded.records.back().micro_batches);
      QCOMPARE(split.micro_batch, finished.recorded.records.back().micro_batch);
      QVERIFY(split.bytes <= *spec.memory_budget);
    }
  }

  void leavesNoTrace_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("fitting"); // the budget holds that many examples at once
    QTest::newRow("group norm") << "cnn:width=8" << 500;
    QTest::newRow("batch norm") << "cnn:width=8,norm=batch" << 500;
    QTest::newRow("does not fit at first") << "cnn:width=48,norm=batch" << 6;
  }
  void leavesNoTrace() {
    QFETCH(QString, model);
    QFETCH(int, fitting);
    RunSpec spec = spec_of(model, 4, 12);
    spec.dropout = 0.2;
    spec.memory_budget = curve_for(spec)->at(fitting).bytes;
    const FinishedRun never = run_to_end(spec);
    FinishedRun after;
    RunControl control;
    const auto session = run::open_session(spec);
    const std::uint64_t baseline = session->start().baseline_bytes;
    for (int i = 0; i < 2; ++i)
      QVERIFY(session->predict_memory());
    QCOMPARE(session->start().baseline_bytes, baseline);
    after.outcome = session->run(after.recorded, control);
    QCOMPARE(after.recorded.records.size(), never.recorded.records.size());
    for (std::size_t i = 0; i < never.recorded.records.size(); ++i) {
      const auto& a = never.recorded.records[i];
      const auto& b = after.recorded.records[i];
      QCOMPARE(b.loss, a.loss);
      QCOMPARE(b.grad_norm, a.grad_norm);
      QCOMPARE(b.examples_seen, a.examples_seen);
      QCOMPARE(b.peak_bytes, a.peak_bytes);
    }
    QCOMPARE(after.outcome.oom_events, never.outcome.oom_events);
    QCOMPARE(after.outcome.validation_loss, never.outcome.validation_loss);
  }

  void makesDoWithLittle() {
    RunSpec spec = spec_of("mlp:hidden=32", 1);
    spec.max_batch = 3;
    QCOMPARE(curve_for(spec)->points().back().batch, std::int64_t{3});
    spec.max_batch = 2;
    QVERIFY(curve_for(spec));
    spec.max_batch = 1; // one size says nothing about others
    QVERIFY(!curve_for(spec));
    // One example fits beside the model, two do not.
    spec = spec_of("cnn:width=48", 1);
    const auto curve = curve_for(spec);
    spec.memory_budget = (curve->at(1).bytes + curve->at(2).bytes) / 2;
    const auto without_room = curve_for(spec); // nothing is run for it
    QVERIFY(without_room.has_value());
    QVERIFY(relative(static_cast<double>(without_room->at(1).bytes), static_cast<double>(curve->at(1).bytes)) < 0.05);
    QVERIFY(relative(static_cast<double>(without_room->at(500).bytes), static_cast<double>(curve->at(500).bytes)) <
            0.005);
  }

  /// A search brings the curve with its answer, whatever the strategy.
  void aSearchBringsItsCurve() {
    RunSpec spec = spec_of("cnn:width=8", 1);
    spec.memory_budget = 4'000'000;
    const auto session = run::open_session(spec);
    const auto found = session->find({.timings = false});
    QVERIFY(found.memory.has_value());
    QVERIFY(found.memory->error() < 0.01);
    QVERIFY(found.memory->at(*found.largest).bytes <= 4'000'000);
    QVERIFY(found.memory->at(*found.largest + 1).bytes > 3'960'000);
    QVERIFY(session->find({.strategy = "binary", .timings = false}).memory);
  }
};

BATCHSCOPE_TEST(TestPredictMemory)
#include "tst_predict_memory.moc"
