#include <QTest>

#include <thread>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/meta/detail/meta_device.h"
#include "core/run/dry_run.h"
#include "core/run/engine.h"
#include "core/run/model_spec.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/trials.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

const char* const small_images = "synthetic:examples=625,shape=3x16x16,classes=4";

/// Real steps and dry ones of the same run.
struct Both {
  explicit Both(const RunSpec& spec) : data(open(spec)), device(memory::open_device("cpu", 4'000'000'000)) {
    learner = std::make_unique<train::Learner>(spec, data, *device);
    trials = std::make_unique<train::LearnerTrials>(
        *learner, train::TrialOptions{.sampler = {.examples = data.train->size(),
                                                  .ranks = 1,
                                                  .accumulate = spec.accumulate,
                                                  .effective_batch = spec.effective_batch},
                                      .learning_rate = 0.01,
                                      .clip = spec.clip});
    dry = train::make_dry_run(spec, data::longest_shape(*data.train), data.train->size());
  }

  static data::DataSplit open(const RunSpec& spec) {
    return data::open_data(spec.data, {.context = run::parse_model(spec.model).context()});
  }
  double real_peak(std::int64_t batch) { return static_cast<double>(*trials->run({batch, true, {}}).peak_bytes); }

  data::DataSplit data;
  std::unique_ptr<memory::Device> device;
  std::unique_ptr<train::Learner> learner;
  std::unique_ptr<train::LearnerTrials> trials;
  std::unique_ptr<DryRun> dry;
};

RunSpec spec_of(const char* model, const char* data) {
  RunSpec spec = small_spec(8, 2);
  spec.model = model;
  spec.data = data;
  return spec;
}

} // namespace

/// Steps without memory need what real steps need.
class TestDryRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void equalsRealSteps_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    QTest::addColumn<QString>("setting");
    const auto row = [](const char* model, const char* data, const char* setting = "") {
      QTest::addRow("%s %s %s", model, data, setting) << QString(model) << QString(data) << QString(setting);
    };
    const char* const large_images = "synthetic:examples=250,shape=3x100x100,classes=4";
    const char* const tokens = "synthetic:examples=625,vocabulary=50";
    const char* const numbers = "synthetic:examples=625,shape=30,classes=4";
    row("mlp:hidden=64,layers=3", numbers);
    row("mlp:hidden=500", small_images);
    row("cnn:width=8", small_images);
    row("cnn:width=12,norm=batch", small_images);
    row("cnn:width=8", "synthetic:examples=625,shape=1x23x31,classes=4");
    row("resnet:width=4,blocks=1", small_images);
    row("resnet:width=12,blocks=1,norm=batch", small_images);
    row("resnet:width=8,blocks=1", large_images);
    row("gpt:layers=2,heads=2,width=16,context=12", tokens);
    row("gpt:layers=1,heads=4,width=64,context=200", tokens);
    row("gpt:layers=2,heads=2,width=16,context=12,positions=20,inner=24,tied=1", tokens);
    row("llama:layers=2,heads=4,kv-heads=2,width=16,context=12", tokens);
    row("llama:layers=2,heads=2,width=16,head-width=4,inner=24,context=64,tied=1,bias=1,head-norms=1", tokens);
    row("bert:layers=2,heads=2,width=16,context=12,positions=20", tokens);
    row("vit:layers=2,heads=2,width=16,patch=4", small_images);
    row("llama:layers=2,heads=4,kv-heads=2,width=16,context=12", tokens, "dropout");
    for (const char* model : {"mlp:hidden=64,layers=6", "mlp:hidden=64"})
      row(model, numbers, "checkpointing");
    for (const char* model : {"cnn:width=8", "cnn:width=12,norm=batch", "resnet:width=8,blocks=2"})
      row(model, small_images, "checkpointing");
    row("resnet:width=8,blocks=1", large_images, "checkpointing");
    for (const char* model : {"gpt:layers=3,heads=2,width=16,context=12", "bert:layers=3,heads=2,width=16,context=12",
                              "llama:layers=3,heads=4,kv-heads=2,width=16,context=12"})
      row(model, tokens, "checkpointing");
    row("gpt:layers=3,heads=2,width=16,context=12", tokens, "checkpointing dropout");
    row("mlp:hidden=64,layers=3", numbers, "bf16");
    for (const char* model :
         {"cnn:width=8", "cnn:width=12,norm=batch", "resnet:width=8,blocks=1", "resnet:width=12,blocks=1,norm=batch"})
      row(model, small_images, "bf16");
    row("cnn:width=8", small_images, "bf16 checkpointing");
    row("resnet:width=8,blocks=1", large_images, "bf16");
    for (const char* model :
         {"gpt:layers=2,heads=2,width=16,context=12", "gpt:layers=1,heads=4,width=16,context=200",
          "gpt:layers=2,heads=2,width=16,context=12,tied=1", "bert:layers=2,heads=2,width=16,context=12",
          "llama:layers=2,heads=4,kv-heads=2,width=16,context=12,head-norms=1"})
      row(model, tokens, "bf16");
    for (const char* setting : {"bf16 dropout", "bf16 checkpointing", "bf16 dropout checkpointing"})
      row("gpt:layers=3,heads=2,width=32,context=24", tokens, setting);
    for (const char* setting : {"bf16", "bf16 checkpointing"})
      row("gpt:layers=1,heads=4,width=128,context=128", tokens, setting);
    for (const char* setting :
         {"sgd", "adam", "rmsprop", "averages", "dropout", "clip", "accumulate", "effective batch", "smoothing"}) {
      row("resnet:width=8,blocks=1", small_images, setting);
      row("gpt:layers=2,heads=2,width=16,context=12", tokens, setting);
      row("mlp:hidden=64,layers=2", numbers, setting);
    }
  }
  void equalsRealSteps() {
    QFETCH(QString, model);
    QFETCH(QString, data);
    QFETCH(QString, setting);
    RunSpec spec = spec_of(qPrintable(model), qPrintable(data));
    if (setting == "sgd" || setting == "adam" || setting == "rmsprop")
      spec.optimizer = setting.toStdString();
    spec.dropout = setting.contains("dropout") ? 0.1 : 0;
    spec.checkpointing = setting.contains("checkpointing");
    if (setting.contains("averages"))
      spec.ema = 0.99;
    spec.precision = setting.contains("bf16") ? "bf16" : "fp32";
    spec.label_smoothing = setting == "smoothing" ? 0.1 : 0;
    spec.accumulate = setting == "accumulate" ? 3 : 1;
    if (setting == "clip")
      spec.clip = 1e-6;
    if (setting == "effective batch")
      spec.effective_batch = 190;
    Both both(spec);
    const std::vector<std::int64_t> sizes = setting.isEmpty() && !batchscope::test::sanitized
                                                ? std::vector<std::int64_t>{1, 3, 16, 66, 95, 190}
                                                : std::vector<std::int64_t>{3, 95};
    for (const std::int64_t batch : sizes) {
      const double real = both.real_peak(batch);
      const double error = static_cast<double>(both.dry->trace(batch).peak_bytes) / real - 1;
      QVERIFY2(std::abs(error) <= dry_run_error,
               qPrintable(QString("batch %1: %2 %").arg(batch).arg(100 * error, 0, 'f', 4)));
    }
  }

  void countsParametersAndBaseline() {
    RunSpec spec = spec_of("cnn:width=8,norm=batch", small_images);
    Both both(spec);
    QCOMPARE(both.dry->parameter_count(), both.learner->parameter_count());
    QCOMPARE(both.dry->trace(4).start_bytes, both.device->readings().in_use);
  }

  /// A model of 260 GB of weights.
  void needsNoMemory() {
    RunSpec spec = spec_of("gpt:layers=80,heads=64,width=8192,context=2048", "");
    const data::ExampleShape shape{.input = data::ExampleShape::Input::tokens,
                                   .target = data::ExampleShape::Target::next_token,
                                   .dimensions = {2048},
                                   .vocabulary = 32000};
    const auto dry = train::make_dry_run(spec, shape, 1000);
    QVERIFY(dry->parameter_count() > 64'000'000'000);
    QVERIFY(dry->trace(8).peak_bytes > 1'000'000'000'000);
  }

  /// Nothing of it is counted against the budget of a run that is being trained, or changes its results.
  void disturbsNoRun() {
    const RunSpec spec = small_spec(20, 10);
    const FinishedRun alone = run_to_end(spec);
    std::atomic<bool> over{false};
    std::thread other([&] {
      const data::ExampleShape shape{.input = data::ExampleShape::Input::image,
                                     .target = data::ExampleShape::Target::classes,
                                     .dimensions = {3, 16, 16},
                                     .classes = 4};
      for (std::int64_t batch = 1; !over; batch = batch % 50 + 1)
        engine()
            .dry_run(spec_of("resnet:width=8,blocks=1", small_images), shape, 500, Engine::Workspace::learn)
            ->trace(batch);
    });
    const FinishedRun beside = run_to_end(spec);
    over = true;
    other.join();
    QCOMPARE(beside.outcome.peak_bytes, alone.outcome.peak_bytes);
    QCOMPARE(beside.outcome.loss, alone.outcome.loss);
    QCOMPARE(beside.outcome.oom_events, std::int64_t{0});
  }

  /// Each of two threads counts its own blocks.
  void countsByThread() {
    const auto count = [](std::int64_t elements) {
      const auto device = meta::MetaDevice::open();
      const meta::MetaDevice::Scope scope(*device);
      for (int i = 0; i < 1000; ++i) {
        const at::Tensor held = at::zeros({elements}, at::TensorOptions(at::kFloat).device(at::kMeta));
        if (device->readings().in_use != static_cast<std::uint64_t>(4 * elements))
          return false;
      }
      return device->readings().in_use == 0;
    };
    bool other_right = false;
    std::thread other([&] { other_right = count(320); });
    QVERIFY(count(160));
    other.join();
    QVERIFY(other_right);
  }

  /// One run near the safe size, one that proves the answer, and no error on the way.
  void searchesInTwoRuns_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"mlp:hidden=256", "cnn:width=8", "cnn:width=8,norm=batch", "resnet:width=4,blocks=1",
                              "gpt:layers=2,heads=2,width=48,context=24"})
      QTest::newRow(model) << QString(model);
    QTest::newRow("gpt in bf16") << "gpt:layers=2,heads=2,width=48,context=24";
  }
  void searchesInTwoRuns() {
    QFETCH(QString, model);
    RunSpec spec =
        spec_of(qPrintable(model), model.startsWith("gpt") ? "synthetic:examples=625,vocabulary=50" : small_images);
    if (QString(QTest::currentDataTag()).endsWith("bf16"))
      spec.precision = "bf16";
    const auto half = [&](std::int64_t batch) { // a budget between the peaks of two sizes
      Both both(spec);
      return static_cast<std::uint64_t>((both.real_peak(batch) + both.real_peak(batch + 1)) / 2);
    };
    for (const std::int64_t batch : {23, 130}) {
      spec.memory_budget = half(batch);
      const auto found = run::open_session(spec)->find({.timings = false});
      QCOMPARE(*found.largest, batch);
      QVERIFY(found.largest_is_exact);
      QCOMPARE(found.probes.size() + found.checks.size(), std::size_t{2});
      for (const search::Probe& probe : found.probes)
        QVERIFY(probe.outcome == search::Outcome::fits);
      QVERIFY(found.memory->error() <= dry_run_error);
    }
  }
};

BATCHSCOPE_TEST(TestDryRun)
#include "tst_dry_run.moc"
