#include <QTest>

#include <numeric>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/run/model_spec.h"
#include "core/train/detail/evaluator.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/stepper.h"
#include "core/train/detail/window.h"
#include "run_helpers.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::run;
using namespace batchscope::train;

namespace {

constexpr std::uint64_t budget = 4'000'000;
constexpr int times = test::sanitized ? 50 : 1000;

/// A budget that does not hold 250 examples at once.
RunSpec tight_spec(std::int64_t batch, std::int64_t steps) {
  RunSpec spec = small_spec(batch, steps);
  spec.memory_budget = budget;
  return spec;
}

} // namespace

/// Running out of memory in the middle of training costs no example and changes no result.
class TestOutOfMemory : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void leavesNoTraceHoweverOften_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<double>("dropout");
    QTest::addColumn<bool>("saving"); // memory
    QTest::newRow("group norm") << "cnn:width=8" << 0.0 << false;
    QTest::newRow("batch norm and dropout") << "cnn:width=8,norm=batch" << 0.3 << false;
    QTest::newRow("memory savers") << "cnn:width=8,norm=batch" << 0.3 << true;
  }
  void leavesNoTraceHoweverOften() {
    QFETCH(QString, model);
    QFETCH(double, dropout);
    QFETCH(bool, saving);
    RunSpec spec = tight_spec(8, 1);
    spec.model = model.toStdString();
    spec.dropout = dropout;
    spec.checkpointing = saving;
    spec.precision = saving ? "bf16" : "fp32";
    if (saving)
      spec.ema = 0.9;
    const auto device = memory::open_device("cpu", budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(500);
    std::iota(indices.begin(), indices.end(), 0);
    const MicroBatch all(indices);
    QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
    learner.update(0.001, 0.0, std::nullopt);
    const auto before = learner.snapshot();
    const std::uint64_t baseline = device->readings().in_use;
    for (int i = 0; i < (saving ? times / 20 : times); ++i) {
      // The second micro batch fails: gradients of the first are there and have to go again.
      const Attempt attempt = learner.attempt({all.first(8), all});
      QVERIFY(attempt.out_of_memory);
      QCOMPARE(attempt.failed.size(), std::size_t{500});
      QVERIFY(attempt.info.in_use + attempt.info.requested > budget);
      QCOMPARE(device->readings().in_use, baseline);
    }
    const auto after = learner.snapshot();
    for (std::size_t i = 0; i < before->parameters.size(); ++i)
      QVERIFY(before->parameters[i].equal(after->parameters[i]));
    for (std::size_t i = 0; i < before->buffers.size(); ++i)
      QVERIFY(before->buffers[i].equal(after->buffers[i]));
    QCOMPARE(before->averages.empty(), !saving);
    for (std::size_t i = 0; i < before->averages.size(); ++i)
      QVERIFY(before->averages[i].equal(after->averages[i]));
    QVERIFY(before->generator.equal(after->generator));
    QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
    learner.update(0.001, 0.0, std::nullopt);
    QCOMPARE(device->readings().in_use, baseline);
  }

  /// In a net with branches LibTorch's queue holds activations of one while another fails.
  void leavesNothingBehindInTheMiddleOfABackwardPass_data() {
    QTest::addColumn<bool>("checkpointing");
    QTest::newRow("activations kept") << false;
    QTest::newRow("activations computed again") << true;
  }
  void leavesNothingBehindInTheMiddleOfABackwardPass() {
    QFETCH(bool, checkpointing);
    RunSpec spec = tight_spec(8, 1);
    spec.checkpointing = checkpointing;
    spec.model = "resnet:width=4,blocks=1";
    spec.memory_budget = checkpointing ? 1'500'000 : 2'000'000;
    const auto device = memory::open_device("cpu", spec.memory_budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(500);
    std::iota(indices.begin(), indices.end(), 0);
    const MicroBatch all(indices);
    QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
    learner.update(0.001, 0.0, std::nullopt);
    const std::uint64_t baseline = device->readings().in_use;
    int in_backward = 0;
    std::size_t size = 60;
    for (Attempt attempt = learner.attempt({all.first(size)}); attempt.out_of_memory;
         attempt = learner.attempt({all.first(--size)})) {
      QCOMPARE(device->readings().in_use, baseline);
      in_backward += attempt.info.phase == telemetry::Phase::backward ? 1 : 0;
    }
    QVERIFY(in_backward > 0);
    // What fits after all of that is what fits without it.
    const std::size_t fits = size;
    learner.update(0.001, 0.0, std::nullopt);
    for (size = 1; !learner.attempt({all.first(size)}).out_of_memory; ++size)
      learner.update(0.001, 0.0, std::nullopt);
    QCOMPARE(size - 1, fits);
  }

  void changesNoResult_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("standard") << "" << 1e-4;
    QTest::newRow("checkpointing") << "checkpointing" << 1e-4;
    QTest::newRow("averaged weights") << "averages" << 1e-4;
    QTest::newRow("augmentation, growing back") << "augmentation" << 1e-4;
    QTest::newRow("bf16, which rounds the sums of each part") << "bf16" << 2e-2;
  }
  void changesNoResult() {
    QFETCH(QString, setting);
    QFETCH(double, tolerance);
    RunSpec spec = tight_spec(20, 30);
    spec.checkpointing = setting == "checkpointing";
    spec.precision = setting == "bf16" ? "bf16" : "fp32";
    if (setting == "averages")
      spec.ema = 0.9;
    if (setting == "augmentation") {
      spec.augment = "flip,shift:2,crop:15";
      spec.grow_back = 2;
    }
    if (setting == "checkpointing" || setting == "bf16")
      spec.memory_budget = 2'500'000;
    spec.schedule = "piecewise:0=20,10=250,20=30"; // asks for more than fits, then for less
    const FinishedRun tight = run_to_end(spec);
    spec.memory_budget = 400'000'000;
    const FinishedRun roomy = run_to_end(spec);
    QVERIFY(tight.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(tight.outcome.oom_events > 0);
    QCOMPARE(roomy.outcome.oom_events, std::int64_t{0});
    QCOMPARE(tight.recorded.records.size(), roomy.recorded.records.size());
    for (std::size_t i = 0; i < roomy.recorded.records.size(); ++i) {
      const auto& a = tight.recorded.records[i];
      const auto& b = roomy.recorded.records[i];
      QCOMPARE(a.batch, b.batch);
      QCOMPARE(a.effective_batch, b.effective_batch);
      QCOMPARE(a.examples_seen, b.examples_seen);
      QCOMPARE(a.learning_rate, b.learning_rate);
      QVERIFY2(relative(a.loss, b.loss) < tolerance,
               qPrintable(QStringLiteral("step %1: %2 and %3").arg(i + 1).arg(a.loss).arg(b.loss)));
      QVERIFY(a.peak_bytes <= static_cast<std::int64_t>(budget));
    }
    QVERIFY(relative(*tight.outcome.validation_loss, *roomy.outcome.validation_loss) < tolerance);
  }

  /// The changes of the images are those of the first attempt, to the last bit.
  void retriesTheSameImages() {
    RunSpec spec = tight_spec(8, 1);
    spec.augment = "flip,shift:2";
    const auto device = memory::open_device("cpu", budget);
    Learner learner(spec, data::open_data(spec.data, data_options(spec)), *device);
    std::vector<std::int64_t> indices(500);
    std::iota(indices.begin(), indices.end(), 0);
    const MicroBatch all(indices);
    const std::vector<MicroBatch> parts{all.first(40), all.subspan(40, 30)};
    learner.set_epoch(3);
    const auto computed = [&] {
      learner.attempt(parts);
      return learner.computed();
    };
    const Computed first = computed();
    learner.restore(*learner.snapshot()); // without its gradients
    QVERIFY(learner.attempt({all.first(8), all}).out_of_memory);
    const Computed again = computed();
    QCOMPARE(again.loss, first.loss);
    QCOMPARE(again.grad_norm, first.grad_norm);
    learner.restore(*learner.snapshot());
    learner.set_epoch(4);
    QVERIFY(computed().loss != first.loss);
  }

  void tellsTheWholeStory() {
    RunSpec spec = tight_spec(20, 15);
    spec.schedule = "piecewise:0=20,10=250";
    const FinishedRun finished = run_to_end(spec);
    const auto events = finished.recorded.details("oom");
    QVERIFY(!events.empty());
    const auto& event = events.front();
    QCOMPARE(event["attempted_batch"].get<int>(), 250);
    // It belongs to the step that has the size which was tried.
    for (const auto& each : finished.recorded.events) {
      if (!std::holds_alternative<telemetry::OutOfMemory>(each.body))
        continue;
      const auto& records = finished.recorded.records;
      const auto of_step =
          std::find_if(records.begin(), records.end(), [&](const auto& record) { return record.step == each.step; });
      QVERIFY(of_step != records.end());
      QCOMPARE(of_step->batch, std::int64_t{250});
    }
    QCOMPARE(event["limit_bytes"].get<std::uint64_t>(), budget);
    QVERIFY(event["requested_bytes"].get<std::uint64_t>() + event["in_use_bytes"].get<std::uint64_t>() > budget);
    QCOMPARE(event["micro_batches_before"].get<int>(), 1);
    QVERIFY(event["micro_batches_after"].get<int>() > 1);
    QCOMPARE(event["examples_again"].get<int>(), 250);
    QVERIFY(event["action"].get<std::string>().find("retried the same 250 examples as") != std::string::npos);
    QCOMPARE(event["cause"].get<std::string>(), std::string("the schedule asked for a larger batch"));
    QCOMPARE(event["nominal_batch"].get<int>(), 250);
    QCOMPARE(event["accumulate"].get<int>(), 1);
    QCOMPARE(event["effective_batch"].get<int>(), 250);
    QCOMPARE(event["micro_batch_before"].get<int>(), 250);
    const int parts = event["micro_batches_after"].get<int>();
    QCOMPARE(event["micro_batch_after"].get<int>(), (250 + parts - 1) / parts);
    QVERIFY(event["phase"].get<std::string>() == "forward" || event["phase"].get<std::string>() == "backward");
    QVERIFY(event["reserved_bytes"].get<std::uint64_t>() >= event["in_use_bytes"].get<std::uint64_t>());
    QCOMPARE(event["in_use_by"].size(), std::size_t{6});
    std::uint64_t sum = 0;
    for (const auto& [use, bytes] : event["in_use_by"].items())
      sum += bytes.get<std::uint64_t>();
    QCOMPARE(sum, event["in_use_bytes"].get<std::uint64_t>());
  }

  void learnsASizeOnce() {
    RunSpec spec = tight_spec(250, 2);
    spec.length = {.epochs = 4, .examples = {}, .steps = {}};
    const FinishedRun finished = run_to_end(spec);
    // 500 examples an epoch: every one of the 8 steps is run in parts, but only the first ones met the error.
    QCOMPARE(finished.recorded.records.size(), std::size_t{8});
    for (const auto& event : finished.recorded.events)
      QVERIFY(kind_text(event) != "oom" || event.step == 1);
    for (const auto& record : finished.recorded.records) {
      QCOMPARE(record.batch, std::int64_t{250});
      QCOMPARE(record.effective_batch, std::int64_t{250});
      QVERIFY(record.micro_batches > 1 && record.micro_batch < 250);
    }
  }

  /// 66 parts, found without trying all smaller numbers of them.
  void findsManyPartsAtOnce() {
    RunSpec spec = small_spec(8, 3);
    spec.model = "cnn";
    spec.data = "synthetic:examples=6000,shape=1x28x28,classes=10";
    spec.memory_budget = 24'000'000;
    spec.schedule = "piecewise:0=8,2=4000";
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(finished.outcome.oom_events >= 1);
    QVERIFY2(finished.outcome.oom_events <= 4, qPrintable(QString::number(finished.outcome.oom_events)));
    const auto& last = finished.recorded.records.back();
    QCOMPARE(last.effective_batch, std::int64_t{4000});
    // No smaller than it must be: the parts fill the memory.
    QVERIFY2(last.peak_bytes > 22'000'000, qPrintable(QString::number(last.peak_bytes)));
  }

  /// Sizes between one that fits and one that failed are split without an error of their own.
  void meetsNoErrorForEachSizeOnTheWayDown() {
    RunSpec spec = tight_spec(20, 6);
    spec.schedule = "piecewise:0=500,1=450,2=400,3=350,4=300,5=250";
    spec.batch.number = 500;
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    QVERIFY2(finished.outcome.oom_events <= 2, qPrintable(QString::number(finished.outcome.oom_events)));
  }

  void aProbeMovesNothing() {
    RunSpec spec = tight_spec(8, 1);
    spec.model = "cnn:width=8,norm=batch";
    spec.dropout = 0.3;
    const auto device = memory::open_device("cpu", budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(500);
    std::iota(indices.begin(), indices.end(), 0);
    const MicroBatch all(indices);
    const auto before = learner.snapshot();
    const std::uint64_t baseline = device->readings().in_use;
    const auto trace = learner.trace(all.first(8));
    QVERIFY(trace);
    QCOMPARE(trace->batch, std::int64_t{8});
    QVERIFY(trace->peak_bytes > baseline);
    QVERIFY(!learner.trace(all)); // does not fit
    QCOMPARE(device->readings().in_use, baseline);
    const auto after = learner.snapshot();
    for (std::size_t i = 0; i < before->parameters.size(); ++i)
      QVERIFY(before->parameters[i].equal(after->parameters[i]));
    for (std::size_t i = 0; i < before->buffers.size(); ++i)
      QVERIFY(before->buffers[i].equal(after->buffers[i]));
    QVERIFY(before->generator.equal(after->generator));
  }

  /// After 3 quiet steps, then 6, then 12, one part less is tried, and does not fit. When there is room for it, it is
  /// kept.
  void growsBackAfterSomeSteps() {
    const RunSpec spec = tight_spec(250, 1);
    const auto device = memory::open_device("cpu", budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    Stepper stepper(learner, OnOom::shrink, true, 3);
    std::vector<std::int64_t> indices(250);
    std::iota(indices.begin(), indices.end(), 0);
    const std::vector<MicroBatch> window{indices};
    std::vector<int> attempts; // steps at which a larger micro batch was tried
    std::int64_t parts = 0;
    for (int step = 0; step < 25; ++step) {
      Stepper other(learner, OnOom::shrink, true, 3);
      other.restore(stepper.state()); // as if it went on from a checkpoint
      const StepOutcome outcome = other.run(window);
      learner.update(0.001, 0.0, std::nullopt);
      QVERIFY(outcome.ready);
      if (step == 0)
        parts = outcome.micro_batches;
      QCOMPARE(outcome.micro_batches, parts);
      for (const OutOfMemory& event : outcome.out_of_memory) {
        QCOMPARE(event.growing_back, step > 0);
        QCOMPARE(event.parts_after, parts);
        if (step > 0) {
          QCOMPARE(event.parts_before, parts - 1);
          attempts.push_back(step);
        }
      }
      stepper.restore(other.state());
    }
    QCOMPARE(attempts, (std::vector<int>{4, 11, 24}));
    device->set_budget(10 * budget);
    stepper.restore({stepper.state().known, {}, {.quiet = 24, .wait = 24}}); // which does not know of the budget
    for (std::int64_t expected = parts - 1; expected > 0; --expected) {
      StepOutcome outcome = stepper.run(window);
      learner.update(0.001, 0.0, std::nullopt);
      QVERIFY(outcome.out_of_memory.empty());
      QCOMPARE(outcome.micro_batches, expected);
      QCOMPARE(stepper.state().grow_back.wait, std::int64_t{3});
      for (int quiet = 0; quiet < 2; ++quiet) {
        outcome = stepper.run(window);
        learner.update(0.001, 0.0, std::nullopt);
        QCOMPARE(outcome.micro_batches, expected);
      }
    }
  }

  void forgetsWhenMemoryComesBack() {
    const RunSpec spec = tight_spec(250, 1);
    const auto device = memory::open_device("cpu", budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    Stepper stepper(learner, OnOom::shrink);
    std::vector<std::int64_t> indices(250);
    std::iota(indices.begin(), indices.end(), 0);
    const std::vector<MicroBatch> window{indices};
    const auto step = [&] {
      const StepOutcome outcome = stepper.run(window);
      learner.update(0.001, 0.0, std::nullopt);
      return outcome;
    };
    QVERIFY(!step().out_of_memory.empty());
    const StepOutcome known = step();
    QVERIFY(known.out_of_memory.empty());
    QVERIFY(known.micro_batches > 1);
    const auto grown = memory::open_device("cpu", 10 * budget); // a new budget for the same account
    const StepOutcome roomy = step();
    QVERIFY(roomy.out_of_memory.empty());
    QCOMPARE(roomy.micro_batches, std::int64_t{1});
  }

  /// A budget that is lowered and raised while the run goes on costs memory errors, but no example and no result. One
  /// in which nothing fits is taken back.
  void survivesAChangedBudget() {
    const RunSpec spec = small_spec(250, 12);
    const FinishedRun plain = run_to_end(spec);
    RunControl control;
    struct Steering : Recorded {
      RunControl* control = nullptr;
      void record(const telemetry::StepRecord& record) override {
        Recorded::record(record);
        if (record.step == 3)
          control->set_budget({.bytes = budget, .command = 7});
        if (record.step == 6)
          control->set_budget({.bytes = static_cast<std::uint64_t>(record.allocated_bytes)});
        if (record.step == 7)
          control->set_budget({.bytes = static_cast<std::uint64_t>(record.allocated_bytes) + 1000});
        if (record.step == 9)
          control->set_budget({.bytes = 400'000'000});
      }
    } steering;
    steering.control = &control;
    const auto outcome = open_session(spec)->run(steering, control);
    QVERIFY(outcome.status == telemetry::RunStatus::finished);
    QCOMPARE(steering.records.size(), plain.recorded.records.size());
    for (std::size_t i = 0; i < steering.records.size(); ++i) {
      const auto& record = steering.records[i];
      QVERIFY(relative(record.loss, plain.recorded.records[i].loss) < 1e-4);
      QCOMPARE(record.examples_seen, plain.recorded.records[i].examples_seen);
      QCOMPARE(record.micro_batches > 1, record.step > 3 && record.step <= 9);
    }
    const auto changes = steering.details("budget");
    QCOMPARE(changes.size(), std::size_t{5});
    QCOMPARE(changes[0].at("command").get<int>(), 7);
    QCOMPARE(changes[0].at("applies_from_step").get<int>(), 4);
    QVERIFY(changes[1].contains("refused"));
    QCOMPARE(changes[1].at("budget_bytes").get<std::uint64_t>(), budget);
    QVERIFY(!changes[2].contains("refused"));
    QVERIFY(changes[3].at("why") == Json("taken-back"));
    QVERIFY(changes[3].at("reason_code") == Json("single-example"));
    QCOMPARE(changes[3].at("budget_bytes").get<std::uint64_t>(), budget);
    QCOMPARE(changes[4].at("budget_bytes").get<std::uint64_t>(), std::uint64_t{400'000'000});
    // The error did not end the run: it went on with the budget before.
    const auto errors = steering.details("oom");
    const auto count = [&](const char* outcome) {
      return std::count_if(errors.begin(), errors.end(),
                           [&](const Json& error) { return error["outcome"] == outcome; });
    };
    QCOMPARE(count("retried"), 1);
    QCOMPARE(count("not-survived"), 0);
  }

  /// Training is not affected; what was learnt is kept until there is more memory.
  void evaluationShrinksItsOwnBatch() {
    const RunSpec spec = small_spec(8, 1);
    const auto device = memory::open_device("cpu", 1'000'000);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> sizes;
    Evaluator evaluator(learner, [&](std::int64_t tried, std::int64_t now, const memory::OutOfMemoryInfo& info) {
      QVERIFY(now == tried / 2 && info.requested > 0 && info.phase == telemetry::Phase::evaluation);
      sizes.push_back(now);
    });
    const auto never = [] { return false; };
    const auto tight = evaluator.run(125, never);
    const std::size_t errors = sizes.size();
    QVERIFY(tight && errors > 0);
    evaluator.run(125, never);
    QCOMPARE(sizes.size(), errors);
    device->set_budget(400'000'000);
    const auto roomy = evaluator.run(125, never);
    QCOMPARE(sizes.size(), errors);
    QVERIFY(relative(tight->loss, roomy->loss) < 1e-5);
    QCOMPARE(tight->accuracy, roomy->accuracy);
  }

  void failsWhereItIsToldTo() {
    RunSpec spec = tight_spec(250, 2);
    spec.on_oom = OnOom::fail;
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::failed);
    QVERIFY(finished.outcome.reason.starts_with("out of memory with a micro batch of 250"));
    QCOMPARE(finished.outcome.steps, std::int64_t{0});
    QVERIFY(finished.recorded.records.empty());
    QCOMPARE(finished.recorded.details("oom").size(), std::size_t{1});
  }

  void failsWhereNotEvenOneExampleFits() {
    RunSpec spec = small_spec(4, 2);
    spec.model = "cnn:width=64";
    spec.data = "synthetic:examples=20,shape=3x128x128,classes=4";
    spec.memory_budget = 8'000'000;
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::failed);
    QVERIFY(finished.outcome.reason.starts_with("out of memory: even one example does not fit"));
  }

  void tellsABudgetBelowTheModel() {
    RunSpec spec = small_spec(4, 2);
    spec.model = "mlp:hidden=4096,layers=4";
    spec.memory_budget = 2'000'000;
    try {
      run_to_end(spec);
      QFAIL("no error");
    } catch (const Error& error) {
      QVERIFY(error.kind() == Error::Kind::failed);
      QVERIFY(std::string(error.what()).starts_with("the memory budget of 2.0 MB is too small for the model"));
    }
  }
};

BATCHSCOPE_TEST(TestOutOfMemory)
#include "tst_out_of_memory.moc"
