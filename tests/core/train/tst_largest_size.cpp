#include <QTest>

#include <algorithm>
#include <array>
#include <random>

#include "core/base/error.h"
#include "core/run/engine.h"
#include "core/schedule/progression.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

constexpr int random_cases = test::sanitized ? 8 : 50;

RunSpec with_batch(RunSpec spec, std::int64_t batch) {
  spec.batch = {BatchChoice::Kind::number, batch};
  return spec;
}

RunSpec random_spec(std::mt19937& random) {
  const auto pick = [&](auto... options) {
    const std::array<std::string, sizeof...(options)> list = {std::string(options)...};
    return list[random() % list.size()];
  };
  RunSpec spec = small_spec(1, 3);
  spec.model = pick("mlp:hidden=64", "mlp:hidden=16,layers=3", "cnn:width=4,norm=group", "cnn:width=6,norm=batch",
                    "resnet:width=4,blocks=1,norm=group", "resnet:width=4,blocks=1,norm=batch",
                    "gpt:layers=2,heads=2,width=16,context=16");
  spec.data = spec.model.starts_with("gpt") ? "synthetic:examples=625,vocabulary=20"
                                            : "synthetic:examples=625,shape=1x16x16,classes=4";
  spec.optimizer = pick("sgd", "adam", "adamw");
  spec.accumulate = 1 + static_cast<std::int64_t>(random() % 3);
  spec.memory_budget = 1'500'000 + random() % 3'000'000;
  spec.drop_last = random() % 2 == 0;
  spec.schedule = pick("constant", "step:interval=1,increment=3");
  spec.on_oom = OnOom::fail;
  return spec;
}

/// What `plan` says about the run's steps.
std::vector<schedule::PlannedStep> plan(const RunSpec& spec) {
  schedule::ProgressionOptions options;
  options.sampler = {.examples = 500, .ranks = 1, .accumulate = spec.accumulate, .drop_last = spec.drop_last};
  options.length = spec.length;
  options.batch = spec.batch.number;
  options.schedule = spec.schedule;
  schedule::Progression progression(options);
  std::vector<schedule::PlannedStep> steps;
  while (const auto step = progression.next()) {
    steps.push_back(*step);
    progression.done();
  }
  return steps;
}

} // namespace

/// The finder's answer against real runs: the largest size trains, one more does not.
class TestLargestSize : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void trainsAtTheLargestSizeAndFailsAtOneMore() {
    std::mt19937 random(2024);
    int bounded_by_memory = 0;
    for (int i = 0; i < random_cases; ++i) {
      RunSpec spec = random_spec(random);
      const std::string about = "case " + std::to_string(i) + ": " + spec.model + " " + spec.optimizer +
                                " k=" + std::to_string(spec.accumulate) + " budget " +
                                std::to_string(*spec.memory_budget);
      search::SearchResult result;
      {
        const auto session = run::open_session(with_batch(spec, 1));
        result = session->find({.timings = false});
      }
      QVERIFY2(result.found, about.c_str());
      const std::string schedule = std::exchange(spec.schedule, "constant");
      QVERIFY2(run_to_end(with_batch(spec, *result.largest)).outcome.status == telemetry::RunStatus::finished,
               about.c_str());
      if (*result.largest < 500) {
        ++bounded_by_memory;
        const telemetry::RunOutcome more = run_to_end(with_batch(spec, *result.largest + 1)).outcome;
        QVERIFY2(more.status == telemetry::RunStatus::failed && more.reason.starts_with("out of memory"),
                 about.c_str());
      }
      followsThePlan(with_batch(spec, std::max<std::int64_t>(*result.largest / 3, 1)), schedule, about);
    }
    QVERIFY(bounded_by_memory > random_cases / 2);
  }

  void findsItInFewProbesOnEveryModel_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    QTest::addColumn<int>("budget");
    const QString images = "synthetic:examples=2500,shape=1x28x28,classes=10";
    const QString tokens = "synthetic:examples=2500,vocabulary=65";
    for (const int budget : {12, 24, 48}) {
      QTest::addRow("mlp, %d MB", budget) << "mlp:hidden=256" << images << budget * 1'000'000 / 3;
      QTest::addRow("cnn, %d MB", budget) << "cnn:width=16" << images << budget * 1'000'000;
      QTest::addRow("resnet, %d MB", budget) << "resnet:width=8,blocks=1" << images << budget * 1'000'000;
      QTest::addRow("gpt, %d MB", budget) << "gpt:layers=2,heads=2,width=32,context=32" << tokens << budget * 1'000'000;
    }
  }
  void findsItInFewProbesOnEveryModel() {
    QFETCH(QString, model);
    QFETCH(QString, data);
    QFETCH(int, budget);
    RunSpec spec = small_spec(1, 1);
    spec.model = model.toStdString();
    spec.data = data.toStdString();
    spec.memory_budget = budget;
    spec.on_oom = OnOom::fail;
    search::SearchResult result;
    {
      const auto session = run::open_session(spec);
      result = session->find({.timings = false});
    }
    QVERIFY(result.found);
    QVERIFY(result.probes.size() <= 4);
    QVERIFY(std::count_if(result.probes.begin(), result.probes.end(), [](const search::Probe& probe) {
              return probe.outcome == search::Outcome::out_of_memory;
            }) <= 1);
    for (const auto* runs : {&result.probes, &result.checks}) {
      for (const search::Probe& probe : *runs) {
        if (!probe.predicted_bytes || probe.outcome != search::Outcome::fits)
          continue;
        const double error = static_cast<double>(*probe.predicted_bytes) / static_cast<double>(*probe.peak_bytes) - 1;
        QVERIFY2(std::abs(error) < 0.005, qPrintable(QString::number(error)));
      }
    }
    QVERIFY(run_to_end(with_batch(spec, *result.largest)).outcome.status == telemetry::RunStatus::finished);
    if (*result.largest < 2000)
      QVERIFY(run_to_end(with_batch(spec, *result.largest + 1)).outcome.status == telemetry::RunStatus::failed);
  }

  /// The number of micro batches depends on their size then; the search asks for their size alone.
  void findsTheMicroBatchOfANamedEffectiveBatch() {
    RunSpec spec = small_spec(1, 2);
    spec.batch = {};
    spec.model = "gpt:layers=2,heads=2,width=32,context=32";
    spec.data = "synthetic:examples=2500,vocabulary=65";
    spec.effective_batch = 1500;
    spec.memory_budget = 12'000'000;
    spec.on_oom = OnOom::fail;
    search::SearchResult result;
    {
      const auto session = run::open_session(spec);
      result = session->find({.timings = false});
    }
    QVERIFY(result.found && *result.largest < 1500);
    QVERIFY(result.probes.size() <= 4);
    spec.batch = {BatchChoice::Kind::number, *result.largest};
    const FinishedRun finished = run_to_end(spec);
    QVERIFY2(finished.outcome.status == telemetry::RunStatus::finished, finished.outcome.reason.c_str());
    QCOMPARE(finished.recorded.records.front().effective_batch, std::int64_t{1500});
  }

private:
  static void followsThePlan(RunSpec spec, const std::string& schedule, const std::string& about) {
    spec.schedule = schedule;
    spec.on_oom = OnOom::shrink;
    spec.length = {.epochs = {}, .examples = {}, .steps = 12};
    const auto planned = plan(spec);
    const FinishedRun finished = run_to_end(spec);
    QVERIFY2(finished.recorded.records.size() == planned.size(), about.c_str());
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const auto& record = finished.recorded.records[i];
      QVERIFY2(record.batch == planned[i].batch && record.effective_batch == planned[i].takes.examples &&
                   record.examples_seen == planned[i].takes.seen_in_total && record.epoch == planned[i].epoch &&
                   record.train_coverage == planned[i].train_coverage,
               about.c_str());
    }
  }
};

BATCHSCOPE_TEST(TestLargestSize)
#include "tst_largest_size.moc"
