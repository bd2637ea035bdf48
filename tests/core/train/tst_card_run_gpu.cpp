#include <dlfcn.h>

#include <algorithm>

#include <QTest>

#include "core/base/error.h"
#include "core/memory/detail/cuda_library.h"
#include "core/memory/device.h"
#include "core/predict/peak_curve.h"
#include "core/run/card_run.h"
#include "core/run/model_spec.h"
#include "run_helpers.h"
#include "test_program.h"
#include "tests/gpu_needed.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

constexpr double accepted = 0.001; ///< relative error of a prediction

struct Model {
  const char* name;
  const char* data;
};

constexpr const char* images_of_32 = "synthetic:examples=625,shape=3x32x32,classes=10";
constexpr const char* texts = "synthetic:examples=625,vocabulary=500";
constexpr Model models[] = {{"mlp:hidden=256", images_of_32},
                            {"cnn:width=16", images_of_32},
                            {"resnet:width=16,blocks=1", images_of_32},
                            {"vit:layers=2,heads=4,width=64,patch=8", images_of_32},
                            {"gpt:layers=2,heads=4,width=128,context=64", texts},
                            {"llama:layers=2,heads=4,kv-heads=2,width=128,context=64", texts},
                            {"bert:layers=2,heads=4,width=128,context=64", texts}};

/// Every combination; with a part of them, every fifth, of which other kinds of GPUs have others.
bool is_left_out(int combination) {
  bool chosen = false;
  const int part = qEnvironmentVariableIntValue("BATCHSCOPE_TEST_PART", &chosen);
  return chosen && combination % 5 != part;
}

/// Of steps from the first on, so that the run's own peak is known.
struct Measured {
  std::uint64_t allocated = 0;
  std::int64_t ooms = 0;
};

Measured measured(RunSpec spec, std::int64_t batch, std::optional<std::uint64_t> budget) {
  spec.batch = {BatchChoice::Kind::number, batch};
  spec.memory_budget = budget;
  const telemetry::RunOutcome outcome = run_to_end(spec).outcome;
  return {outcome.peak_bytes, outcome.oom_events};
}

} // namespace

/// What the steps of a run take of a card is known from a pretended one of its kind, at sizes that no dry run was of.
class TestCardRunGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    try {
      memory::open_device("cuda:0", std::nullopt);
    } catch (const Error& error) {
      SKIP_WITHOUT_GPU(error);
    }
  }

  void predictsTheMemory_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("optimizer");
    int combination = 0;
    for (const Model& model : models)
      for (const char* precision : {"fp32", "bf16", "fp16"})
        for (const char* setting : {"plain", "dropout", "checkpointing", "ema"})
          for (const char* optimizer : {"sgd", "adamw"})
            if (!is_left_out(combination++))
              QTest::addRow("%s %s %s %s", model.name, precision, setting, optimizer)
                  << model.name << model.data << precision << setting << optimizer;
  }
  void predictsTheMemory() {
    QFETCH(QString, model);
    QFETCH(QString, data);
    QFETCH(QString, precision);
    QFETCH(QString, setting);
    QFETCH(QString, optimizer);
    const bool real = dlsym(RTLD_DEFAULT, "batchscope_pretended_counts") == nullptr;
    if (real && (model.startsWith("cnn") || model.startsWith("resnet")))
      QSKIP("what cuDNN asks a real GPU for is not known");
    RunSpec spec = small_spec(1, 6);
    spec.model = model.toStdString();
    spec.data = data.toStdString();
    spec.precision = precision.toStdString();
    spec.optimizer = optimizer.toStdString();
    spec.dropout = setting == "dropout" ? 0.1 : 0.0;
    spec.checkpointing = setting == "checkpointing";
    if (setting == "ema")
      spec.ema = 0.99;
    spec.device = "cuda:0";
    spec.on_oom = OnOom::fail;
    spec.memory_budget.reset();
    const auto examples = data::open_data(spec.data, data_options(spec));
    const auto make = [&] {
      return std::make_unique<CardRun>(helper_, memory::like_gpu(0), spec, data::longest_shape(*examples.train),
                                       examples.train->size());
    };
    const auto card_run = make();
    const std::uint64_t budget = card_run->steps(37).reserved_bytes;
    const DryRunPredictor predictor(make(), budget, examples.train->size());
    const predict::PeakCurve curve(predictor.model(), examples.train->size(), dry_run_error);
    for (const std::int64_t batch : {11, 77, 330}) {
      const std::uint64_t real = measured(spec, batch, {}).allocated;
      const auto predicted = static_cast<double>(predictor.peak(batch).bytes);
      const double error = relative(predicted, static_cast<double>(real));
      worst_ = std::max(worst_, error);
      QVERIFY2(error <= accepted, qPrintable(QString("batch %1: %2 predicted, %3 taken")
                                                 .arg(batch)
                                                 .arg(static_cast<std::uint64_t>(predicted))
                                                 .arg(real)));
      const double drawn = relative(static_cast<double>(curve.at(batch).bytes), static_cast<double>(real));
      worst_drawn_ = std::max(worst_drawn_, drawn);
    }
    const std::int64_t largest = predictor.largest_within(budget, 1, examples.train->size());
    QVERIFY2(largest >= 37, qPrintable(QString::number(largest)));
    QCOMPARE(measured(spec, largest, budget).ooms, std::int64_t{0});
    if (largest < examples.train->size())
      QVERIFY2(measured(spec, largest + 1, budget).ooms > 0, qPrintable(QString::number(largest)));
  }

  void cleanupTestCase() {
    qInfo("largest error of a prediction: %.4f %%; of the curve between two sizes: %.2f %%", 100 * worst_,
          100 * worst_drawn_);
  }

private:
  std::shared_ptr<pretended_gpu::Helper> helper_ = std::make_shared<pretended_gpu::Helper>();
  double worst_ = 0, worst_drawn_ = 0;
};

BATCHSCOPE_TEST(TestCardRunGpu)
#include "tst_card_run_gpu.moc"
