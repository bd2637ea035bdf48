#include <QTest>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "core/base/processor_time.h"
#include "core/telemetry/run_clock.h"
#include "run_helpers.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::run;

namespace {

bool same_bits(const FinishedRun& a, const FinishedRun& b) {
  if (a.recorded.records.size() != b.recorded.records.size())
    return false;
  for (std::size_t i = 0; i < a.recorded.records.size(); ++i) {
    const auto& x = a.recorded.records[i];
    const auto& y = b.recorded.records[i];
    if (x.loss != y.loss || x.grad_norm != y.grad_norm || x.examples_seen != y.examples_seen)
      return false;
  }
  return a.outcome.validation_loss == b.outcome.validation_loss;
}

} // namespace

class TestTraining : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void errorsNameTheirField_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("field");
    const auto row = [](const char* field, const char* json) {
      QTest::addRow("%s: %s", field, json) << QString(json) << QString(field);
    };
    row("data", R"({"data": "idx:/nowhere/images,/nowhere/labels"})");
    row("data", R"({"data": "csv:batch 1.csv,target=y"})"); // a file that is called like another field
    row("model", R"({"data": "synthetic:examples=50,shape=4,classes=2"})");
    row("batch", R"({"batch": 501})");
    row("effective_batch", R"({"effective_batch": 501})");
    row("max_batch", R"({"batch": 8, "max_batch": 4})");
    row("schedule", R"({"batch": 8, "schedule": "piecewise:0=9"})");
    row("lr", R"({"lr": 0})");
    row("memory_budget", R"({"memory_budget": 1000000, "model": "cnn:width=512"})");
  }
  /// Whatever a session refuses, a form can show it where it was typed.
  void errorsNameTheirField() {
    QFETCH(QString, json);
    QFETCH(QString, field);
    const RunSpec spec = run_spec_from_json(json.toStdString(), small_spec(4, 1));
    try {
      open_session(spec);
      QFAIL("the session opens");
    } catch (const Error& error) {
      QVERIFY2(error.field() == field, (std::string(error.field()) + ", " + error.what()).c_str());
    }
  }

  void tellsWhatOtherWorkTakes() {
    if (thread_times().empty())
      QSKIP("this system does not count it");
    RunSpec spec = small_spec(16, 1'000'000);
    spec.max_seconds = 1.5;
    std::atomic<bool> over = false;
    std::vector<std::jthread> others;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
      others.emplace_back([&over] {
        while (!over)
          ;
      });
    const FinishedRun busy = run_to_end(spec);
    over = true;
    QVERIFY2(busy.outcome.disturbed.value_or(0) > 0.05, qPrintable(QString::number(*busy.outcome.disturbed)));
    const auto windows = std::count_if(
        busy.recorded.records.begin(), busy.recorded.records.end(), [](const telemetry::StepRecord& record) {
          return std::any_of(record.more.begin(), record.more.end(), [](const auto& value) {
            return value.first == telemetry::waited_seconds && value.second > 0;
          });
        });
    QVERIFY(windows >= 1 && windows <= 3);
  }

  void accumulationEqualsOneBatch_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    QTest::addColumn<QString>("optimizer");
    QTest::addColumn<double>("tolerance");
    const QString images = "synthetic:examples=625,shape=1x16x16,classes=4";
    const QString tokens = "synthetic:examples=625,vocabulary=20";
    for (const auto& [optimizer, tolerance] : {std::pair("sgd", 1e-5), std::pair("adamw", 1e-4)}) {
      const auto row = [&](const char* model, const QString& data) {
        QTest::addRow("%s, %s", model, optimizer) << QString(model) << data << QString(optimizer) << tolerance;
      };
      row("mlp:hidden=32", images);
      row("cnn:width=8", images);
      row("resnet:width=4,blocks=1", images);
      row("gpt:layers=1,heads=2,width=16,context=12", tokens);
    }
  }
  /// Batch 60 against 4 x 15 over 20 steps, with an epoch's tail of 20 in between.
  void accumulationEqualsOneBatch() {
    QFETCH(QString, model);
    QFETCH(QString, data);
    QFETCH(QString, optimizer);
    QFETCH(double, tolerance);
    RunSpec spec = small_spec(60, 20);
    spec.model = model.toStdString();
    spec.data = data.toStdString();
    spec.optimizer = optimizer.toStdString();
    if (optimizer == "sgd")
      spec.learning_rate = 0.01;
    const FinishedRun whole = run_to_end(spec);
    spec.batch.number = 15;
    spec.accumulate = 4;
    const FinishedRun parts = run_to_end(spec);
    QCOMPARE(whole.recorded.records.size(), std::size_t{20});
    QCOMPARE(parts.recorded.records.size(), std::size_t{20});
    QCOMPARE(whole.recorded.records[8].effective_batch, std::int64_t{20});
    for (std::size_t i = 0; i < 20; ++i) {
      const auto& a = whole.recorded.records[i];
      const auto& b = parts.recorded.records[i];
      QCOMPARE(b.effective_batch, a.effective_batch);
      QVERIFY2(relative(b.loss, a.loss) < tolerance,
               qPrintable(
                   QStringLiteral("step %1: %2 against %3").arg(i + 1).arg(b.loss, 0, 'g', 9).arg(a.loss, 0, 'g', 9)));
    }
  }

  void theSameSeedGivesTheSameBits() {
    RunSpec spec = small_spec(40, 25);
    spec.dropout = 0.2;
    const FinishedRun first = run_to_end(spec);
    QVERIFY(same_bits(first, run_to_end(spec)));
    spec.seed = 2;
    QVERIFY(!same_bits(first, run_to_end(spec)));
  }

  void aSearchLeavesNoTrace_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("group norm") << "cnn:width=8";
    if (!test::sanitized)
      QTest::newRow("batch norm") << "cnn:width=8,norm=batch";
    QTest::newRow("memory savers") << "cnn:width=8";
  }
  void aSearchLeavesNoTrace() {
    QFETCH(QString, model);
    RunSpec spec = small_spec(40, 25);
    const bool saving = QLatin1String(QTest::currentDataTag()) == QLatin1String("memory savers");
    spec.checkpointing = saving;
    spec.precision = saving ? "bf16" : "fp32";
    if (saving)
      spec.ema = 0.9;
    spec.model = model.toStdString();
    spec.dropout = 0.2;
    spec.memory_budget = 4'000'000;
    const FinishedRun never_searched = run_to_end(spec);
    FinishedRun searched;
    RunControl control;
    const auto session = run::open_session(spec);
    QVERIFY(session->find({.strategy = "predictive", .timings = !saving}).found);
    for (const char* strategy : {"binary", "halving"}) // what is timed does not depend on the strategy
      QVERIFY(session->find({.strategy = strategy, .timings = false}).found);
    searched.outcome = session->run(searched.recorded, control);
    QVERIFY(same_bits(never_searched, searched));
  }

  void learnsSomething_data() {
    QTest::addColumn<QString>("precision");
    QTest::newRow("fp32") << "fp32";
    QTest::newRow("bf16") << "bf16";
  }
  void learnsSomething() {
    QFETCH(QString, precision);
    RunSpec spec = small_spec(50, 1);
    spec.precision = precision.toStdString();
    spec.length = {.epochs = 6, .examples = {}, .steps = {}};
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(finished.outcome.loss < 0.5 * finished.recorded.records.front().loss);
    QVERIFY(finished.outcome.validation_accuracy > 0.6); // chance is 0.25
    QCOMPARE(finished.recorded.details("evaluation").size(), std::size_t{6});
  }

  void evaluatesEverySoManySteps_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("group norm") << "cnn:width=8";
    QTest::newRow("batch norm, whose statistics move in training") << "cnn:width=8,norm=batch";
  }
  /// Besides the ends of epochs, and without any effect on training: random numbers, order of examples and weights.
  void evaluatesEverySoManySteps() {
    QFETCH(QString, model);
    RunSpec spec = small_spec(40, 20);
    spec.model = model.toStdString();
    spec.dropout = 0.2;
    const FinishedRun seldom = run_to_end(spec);
    spec.evaluate_every = run::EvaluationInterval{.steps = 4};
    const FinishedRun often = run_to_end(spec);
    QVERIFY(same_bits(seldom, often));
    QCOMPARE(often.outcome.peak_bytes, seldom.outcome.peak_bytes);
    QList<qint64> steps;
    for (const auto& event : often.recorded.events)
      if (kind_text(event) == "evaluation")
        steps += event.step;
    QCOMPARE(steps, QList<qint64>({4, 8, 12, 13, 16, 20})); // an epoch has 13 steps
  }

  /// Equally often at every batch size: each time that a tenth of the 500 examples is passed.
  void evaluatesEachShareOfAnEpoch() {
    for (const std::int64_t batch : {7, 25, 60, 130}) {
      RunSpec spec = small_spec(batch, 1);
      spec.length = {.epochs = 2, .examples = {}, .steps = {}};
      spec.evaluate_every = run::EvaluationInterval{.percent = 10};
      const FinishedRun finished = run_to_end(spec);
      QList<qint64> expected;
      for (std::size_t i = 0; i < finished.recorded.records.size(); ++i) {
        const std::int64_t before = i == 0 ? 0 : finished.recorded.records[i - 1].examples_seen;
        if (finished.recorded.records[i].examples_seen / 50 > before / 50)
          expected += finished.recorded.records[i].step;
      }
      QList<qint64> steps;
      for (const auto& event : finished.recorded.events)
        if (kind_text(event) == "evaluation")
          steps += event.step;
      QCOMPARE(steps, expected);
    }
  }

  void finishesWhenTheTargetIsReached() {
    RunSpec spec = small_spec(50, 1);
    spec.length = {.epochs = 20, .examples = {}, .steps = {}};
    spec.evaluate_every = run::EvaluationInterval{.percent = 20};
    spec.target_score = 0.6;
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    const auto scores = finished.recorded.details("evaluation");
    for (std::size_t i = 0; i < scores.size(); ++i)
      QCOMPARE(scores[i]["accuracy"].get<double>() >= 0.6, i + 1 == scores.size());
    QCOMPARE(finished.recorded.events.back().step, finished.outcome.steps);
    QVERIFY(finished.outcome.epoch < 20);
  }

  /// Of a run without any other end in sight.
  void finishesBeforeItsTimeIsOver() {
    RunSpec spec = small_spec(20, 10'000'000);
    spec.max_seconds = 0.3;
    spec.evaluate_every = run::EvaluationInterval{.percent = 50}; // does not count
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(finished.outcome.steps >= 1);
    QCOMPARE(finished.recorded.events.back().step, finished.outcome.steps); // evaluated at its end
    const auto& last = finished.recorded.records.back();
    double evaluated = 0;
    for (const auto& event : finished.recorded.events)
      for (const auto& [name, value] : event.values)
        if (name == "evaluation_seconds" && event.step < last.step)
          evaluated += value;
    const auto& before = finished.recorded.records[std::max<std::size_t>(finished.recorded.records.size(), 2) - 2];
    QVERIFY(before.seconds - evaluated <= 0.3);
  }

  void countsTimeAtItsEndAsOnTheWay_data() {
    QTest::addColumn<int>("evaluate_every");
    QTest::newRow("at the end of epochs") << 0;
    QTest::newRow("also in between") << 4;
  }
  void countsTimeAtItsEndAsOnTheWay() {
    QFETCH(int, evaluate_every);
    RunSpec spec = small_spec(50, 1);
    spec.length = {.epochs = 3, .examples = {}, .steps = {}};
    if (evaluate_every > 0)
      spec.evaluate_every = run::EvaluationInterval{.steps = evaluate_every};
    const FinishedRun finished = run_to_end(spec);
    const auto& last = finished.recorded.records.back();
    const auto& evaluation = finished.recorded.events.back();
    QVERIFY(std::holds_alternative<telemetry::Evaluation>(evaluation.body));
    QVERIFY(evaluation.seconds > last.seconds);
    QCOMPARE(finished.outcome.seconds, evaluation.seconds);
    double evaluated = 0; // before the last step
    for (const auto& event : finished.recorded.events)
      for (const auto& [name, value] : event.values)
        if (name == "evaluation_seconds" && event.step < last.step)
          evaluated += value;
    QVERIFY(evaluated > 0);
    QCOMPARE(finished.outcome.examples_per_second,
             static_cast<double>(last.examples_seen) / (last.seconds - evaluated));
  }

  void runsForTheExamplesAskedFor() {
    RunSpec spec = small_spec(64, 1);
    spec.length = {.epochs = {}, .examples = 700, .steps = {}};
    const FinishedRun finished = run_to_end(spec);
    QCOMPARE(finished.outcome.examples_seen, std::int64_t{700});
  }

  void clipsAndWarmsUp() {
    RunSpec spec = small_spec(20, 10);
    spec.optimizer = "sgd";
    spec.learning_rate = 0.5;
    spec.warmup = "5";
    const FinishedRun unclipped = run_to_end(spec);
    for (int i = 0; i < 10; ++i)
      QCOMPARE(unclipped.recorded.records[i].learning_rate, std::min(0.5 * i / 5.0, 0.5));
    spec.clip = 1e6;
    QVERIFY(same_bits(run_to_end(spec), unclipped)); // no gradient is that long
    spec.clip = 1e-3;
    const FinishedRun clipped = run_to_end(spec);
    const auto& first = clipped.recorded.records;
    QCOMPARE(first[1].loss, unclipped.recorded.records[1].loss); // the first step's rate is 0
    QVERIFY(first[2].loss != unclipped.recorded.records[2].loss);
    // The norm that is told is that before clipping; steps this short leave the model where it was.
    QVERIFY(first[9].grad_norm > 0.1);
    RunSpec still = spec;
    still.learning_rate = 1e-12;
    QVERIFY(std::abs(first[9].loss - run_to_end(still).recorded.records[9].loss) < 0.1);
  }

  void regularizationFollowsTheBatch() {
    // At four times the reference batch weight decay doubles, so naming twice the decay without the rule is the same.
    RunSpec spec = small_spec(40, 6);
    spec.weight_decay = 0.2;
    spec.lr_reference_batch = 10;
    spec.regularization_rule = "sqrt";
    const FinishedRun scaled = run_to_end(spec);
    spec.regularization_rule = "none";
    const FinishedRun as_it_was = run_to_end(spec);
    spec.weight_decay = 0.4;
    QVERIFY(same_bits(scaled, run_to_end(spec)));
    QVERIFY(!same_bits(scaled, as_it_was));
  }

  void labelSmoothingRaisesTheTrainingLossAlone() {
    RunSpec spec = small_spec(40, 1);
    spec.learning_rate = 1e-12;
    const FinishedRun plain = run_to_end(spec);
    spec.label_smoothing = 0.3;
    const FinishedRun smoothed = run_to_end(spec);
    QVERIFY(smoothed.outcome.loss != plain.outcome.loss);
    QVERIFY(relative(smoothed.outcome.validation_loss.value(), plain.outcome.validation_loss.value()) < 1e-6);
  }

  void aLossThatExplodesIsReportedAsItIs() {
    RunSpec spec = small_spec(50, 40);
    spec.optimizer = "sgd";
    spec.learning_rate = 1e6;
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(!std::isfinite(finished.outcome.loss.value()));
  }

  void followsCommandsOfAnyThread() {
    // Steers from another thread while the run goes on, by what the run reports and not by the clock.
    struct Watched : Recorded {
      std::atomic<std::int64_t> steps{0};
      void record(const telemetry::StepRecord& record) override {
        Recorded::record(record);
        steps.store(record.step);
        steps.notify_all();
      }
    } recorded;
    RunControl control;
    std::thread other([&] {
      recorded.steps.wait(0);
      QVERIFY(control.edit({.schedule = "constant", .batch = 33}));
      const std::int64_t at_edit = recorded.steps.load();
      for (std::int64_t seen = at_edit; seen < at_edit + 3; seen = recorded.steps.load())
        recorded.steps.wait(seen);
      control.stop();
    });
    const auto session = run::open_session(small_spec(10, 1'000'000));
    const telemetry::RunOutcome summary = session->run(recorded, control);
    other.join();
    QVERIFY(summary.status == telemetry::RunStatus::stopped);
    QCOMPARE(recorded.records.back().batch, std::int64_t{33});
    QCOMPARE(recorded.records.back().step, summary.steps);
    const auto edits = recorded.details("edit");
    QCOMPARE(edits.size(), std::size_t{1});
    const auto from = edits[0]["applies_from_step"].get<std::size_t>();
    QCOMPARE(recorded.records[from - 2].batch, std::int64_t{10});
    QCOMPARE(recorded.records[from - 1].batch, std::int64_t{33});
  }

  void anEditTakesEffectAtTheNextStep() {
    RunSpec spec = small_spec(10, 6);
    Recorded recorded;
    RunControl control;
    QVERIFY(control.edit({.schedule = "step:interval=1,increment=1", .batch = 20}));
    QVERIFY(control.edit({.schedule = "nonsense"}));
    const auto session = run::open_session(spec);
    session->run(recorded, control);
    for (int i = 0; i < 6; ++i)
      QCOMPARE(recorded.records[i].batch, std::int64_t{20 + i});
    const auto edits = recorded.details("edit");
    QCOMPARE(edits.size(), std::size_t{2});
    QCOMPARE(edits[0]["applies_from_step"].get<int>(), 1);
    QVERIFY(edits[1].contains("refused"));
  }

  void anEditAfterTheLastStepIsRefusedByItsRun() {
    struct Late : Recorded {
      explicit Late(RunControl& control) : control(control) {}
      void record(const telemetry::StepRecord& record) override {
        Recorded::record(record);
        if (record.step == 4)
          before = control.edit({.schedule = "constant", .batch = 7});
      }
      void event(telemetry::Event event) override {
        if (kind_text(event) == "evaluation")
          during = control.edit({.schedule = "constant", .batch = 8});
        Recorded::event(std::move(event));
      }
      RunControl& control;
      std::optional<bool> before, during;
    };
    RunControl control;
    Late recorded(control);
    const auto session = run::open_session(small_spec(10, 4));
    QVERIFY(session->run(recorded, control).status == telemetry::RunStatus::finished);
    QVERIFY(recorded.before.value() && recorded.during.has_value());
    // Each one that was accepted is answered for, and none changes anything.
    const auto edits = recorded.details("edit");
    QCOMPARE(edits.size(), std::size_t{*recorded.during ? 2U : 1U});
    for (const auto& edit : edits)
      QVERIFY(edit.contains("refused") && !edit.contains("applies_from_step"));
    QVERIFY(!control.edit({.schedule = "constant", .batch = 9}));
  }

  void rampsOverTokensFollowThem() {
    RunSpec spec = small_spec(2, 5);
    spec.model = "gpt:layers=1,heads=2,width=16,context=12";
    spec.data = "synthetic:examples=625,vocabulary=20";
    spec.schedule = "linear:max=10,tokens=96";
    const FinishedRun ramp = run_to_end(spec);
    QCOMPARE(ramp.recorded.records.size(), std::size_t{5});
    // 24 tokens in the first step are a quarter of the way.
    QCOMPARE(ramp.recorded.records[1].batch, std::int64_t{4});
    QCOMPARE(ramp.recorded.records[2].batch, std::int64_t{8});
    QCOMPARE(ramp.recorded.records[3].batch, std::int64_t{10});
  }

  void anEditThatCountsTokensOfImagesIsRefused() {
    const auto session = run::open_session(small_spec(20, 3));
    RunControl control;
    QVERIFY(control.edit({"exponential:max=64,tokens=1000", std::nullopt}));
    Recorded recorded;
    QCOMPARE(session->run(recorded, control).steps, std::int64_t{3});
    QVERIFY(recorded.details("edit").at(0).contains("refused"));
  }

  void evaluatesWhatNoListOfExamplesCouldHold() {
    RunSpec spec = small_spec(500, 2);
    spec.model = "mlp:hidden=4";
    spec.data = "synthetic:examples=1000000000000,shape=4,classes=2";
    const FinishedRun finished = run_to_end(spec);
    QVERIFY2(finished.outcome.status == telemetry::RunStatus::finished, finished.outcome.reason.c_str());
    QVERIFY(finished.outcome.validation_loss && finished.outcome.validation_accuracy);
  }

  void refusesSpecsThatCannotRun_data() {
    QTest::addColumn<QString>("field");
    QTest::newRow("batch above the data") << "batch";
    QTest::newRow("model that takes no images") << "model";
    QTest::newRow("unknown schedule") << "schedule";
    QTest::newRow("unknown GPU") << "device";
    QTest::newRow("tokens of images") << "tokens";
  }
  void refusesSpecsThatCannotRun() {
    QFETCH(QString, field);
    RunSpec spec = small_spec(10, 5);
    if (field == "batch")
      spec.batch.number = 501;
    else if (field == "model")
      spec.model = "gpt";
    else if (field == "schedule")
      spec.schedule = "triangle:multiplier=1";
    else if (field == "tokens")
      spec.schedule = "linear:max=64,tokens=1000";
    else
      spec.device = "cuda:63";
    QVERIFY_EXCEPTION_THROWN(run::open_session(spec), Error);
  }

  /// Measuring reads the gradients: with accumulation the run stays bitwise the same. A step of one micro batch is run
  /// as two halves, with the same result up to rounding.
  void noiseIsMeasuredBesideTraining() {
    const auto noise_of = [](const FinishedRun& run) {
      std::vector<std::pair<std::int64_t, double>> found;
      for (const auto& event : run.recorded.events)
        for (const auto& [name, value] : event.values)
          if (name == telemetry::noise_scale)
            found.emplace_back(event.step, value);
      return found;
    };
    for (const std::int64_t accumulate : {1, 3}) {
      RunSpec spec = small_spec(24, 20);
      spec.accumulate = accumulate;
      const FinishedRun plain = run_to_end(spec);
      QVERIFY(noise_of(plain).empty());
      spec.noise_every = 2;
      const FinishedRun measured = run_to_end(spec);
      QVERIFY(!noise_of(measured).empty());
      for (const auto& [step, value] : noise_of(measured))
        QVERIFY(step % 2 == 0 && value >= 0);
      QCOMPARE(measured.recorded.records.size(), plain.recorded.records.size());
      for (std::size_t i = 0; i < plain.recorded.records.size(); ++i) {
        const auto& a = plain.recorded.records[i];
        const auto& b = measured.recorded.records[i];
        QCOMPARE(b.micro_batches, accumulate > 1 ? accumulate : b.step % 2 == 0 ? 2 : 1);
        if (accumulate > 1)
          QVERIFY(a.loss == b.loss && a.grad_norm == b.grad_norm);
        else
          QVERIFY2(relative(b.loss, a.loss) < 1e-4,
                   qPrintable(QString("step %1: %2, %3").arg(a.step).arg(b.loss).arg(a.loss)));
      }
    }
    RunSpec with_batch_norm = small_spec(24, 4);
    with_batch_norm.model = "cnn:width=8,norm=batch";
    with_batch_norm.noise_every = 1;
    const FinishedRun whole = run_to_end(with_batch_norm);
    QVERIFY(noise_of(whole).empty());
    QCOMPARE(whole.recorded.records.back().micro_batches, std::int64_t{1});
  }

  /// The schedule changes the batch by what was measured, and AdaScale takes fewer steps than at the reference batch.
  void noiseDrivesBatchAndRate() {
    RunSpec spec = small_spec(8, 40);
    spec.schedule = "noise:multiplier=4,every=10";
    const FinishedRun driven = run_to_end(spec);
    QVERIFY(driven.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(driven.recorded.records.back().batch != 8);
    spec = small_spec(32, 40);
    spec.lr_rule = "adascale";
    spec.lr_reference_batch = 8;
    spec.noise_every = 1;
    const FinishedRun scaled = run_to_end(spec);
    QVERIFY(scaled.outcome.status == telemetry::RunStatus::finished);
    QVERIFY(scaled.outcome.steps < 40 && scaled.outcome.steps >= 10);
    for (const auto& record : scaled.recorded.records)
      QVERIFY(record.learning_rate >= 0.001 && record.learning_rate <= 0.004);
  }
};

BATCHSCOPE_TEST(TestTraining)
#include "tst_training.moc"
