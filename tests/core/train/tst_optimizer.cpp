#include <QTest>

#include <cmath>
#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include "core/data/dataset.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/device.h"
#include "core/train/detail/averaged_weights.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/optimizer.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::train;

class TestOptimizer : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Tieleman and Hinton (2012), with a smoothing of 0.99 and an L2 penalty.
  void rmsPropFollowsTheFormula() {
    run::RunSpec spec;
    spec.optimizer = "rmsprop";
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> weights{at::ones({2, 3}), at::full({5}, 2.0)};
    const auto optimizer = make_optimizer(spec, weights);
    double weight = 1, square = 0;
    for (const double gradient : {0.5, -2.0, 0.1, 0.0}) {
      optimizer->step({at::full({2, 3}, gradient), at::full({5}, 1.0)}, 0.01, 0.1, {});
      const double with_penalty = gradient + 0.1 * weight;
      square = 0.99 * square + 0.01 * with_penalty * with_penalty;
      weight -= 0.01 * with_penalty / (std::sqrt(square) + 1e-8);
      QVERIFY(relative(weights[0][1][2].item().toDouble(), weight) < 1e-5);
    }
    QCOMPARE(optimizer->state().size(), std::size_t{2});
  }

  void rmsPropLearns() {
    run::RunSpec spec = small_spec(50, 1);
    spec.length = {.epochs = 4, .examples = {}, .steps = {}};
    spec.optimizer = "rmsprop";
    const FinishedRun finished = run_to_end(spec);
    QVERIFY(finished.outcome.loss < 0.7 * finished.recorded.records.front().loss);
  }

  void runsOutOfNothing_data() {
    QTest::addColumn<QString>("json");
    QTest::newRow("adamw, averages") << R"({"optimizer": "adamw", "ema": 0.9})";
    QTest::newRow("adam, clipped") << R"({"optimizer": "adam", "clip": 0.001})";
    QTest::newRow("sgd") << R"({"optimizer": "sgd"})";
    QTest::newRow("sgd without momentum") << R"({"optimizer": "sgd", "momentum": 0})";
    QTest::newRow("rmsprop, clipped, averages") << R"({"optimizer": "rmsprop", "clip": 0.001, "ema": 0.9})";
  }
  /// With a budget that refuses everything, taken away between the gradients and the update, the step is the same to
  /// the last bit.
  void runsOutOfNothing() {
    QFETCH(QString, json);
    const run::RunSpec spec = run::run_spec_from_json(json.toStdString(), small_spec(8, 1));
    const auto device = memory::open_device("cpu", spec.memory_budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(40);
    std::iota(indices.begin(), indices.end(), 0);
    const std::vector<MicroBatch> window{indices};
    const auto before = learner.snapshot();
    const auto two_steps = [&](bool refusing) {
      learner.restore(*before);
      for (int step = 0; step < 2; ++step) {
        device->set_budget(*spec.memory_budget);
        if (learner.attempt(window).out_of_memory)
          qFatal("the gradients must fit");
        if (refusing)
          device->set_budget(1);
        learner.update(0.01, 0.1, spec.clip);
      }
      const std::uint64_t refused = device->readings().refused;
      if (refusing && !learner.attempt(window).out_of_memory)
        qFatal("the budget must refuse");
      device->set_budget(*spec.memory_budget);
      return std::pair(learner.snapshot(), refused);
    };
    const auto [roomy, none] = two_steps(false);
    const auto [tight, refused] = two_steps(true);
    QCOMPARE(refused, std::uint64_t{0});
    const auto same = [](const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](auto& one, auto& other) { return one.equal(other); });
    };
    QVERIFY(same(tight->parameters, roomy->parameters) && !same(tight->parameters, before->parameters));
    QVERIFY(same(tight->optimizer, roomy->optimizer));
    QVERIFY(same(tight->averages, roomy->averages));
  }

  void allocatesNothing_data() {
    QTest::addColumn<QString>("optimizer");
    QTest::addColumn<bool>("scaled");
    for (const char* optimizer : {"adamw", "adam", "sgd", "rmsprop"})
      for (const bool scaled : {false, true})
        QTest::addRow("%s%s", optimizer, scaled ? " with a loss scale" : "") << optimizer << scaled;
  }
  /// Not even where it does not count: besides LibTorch's scalars on the host.
  void allocatesNothing() {
    QFETCH(QString, optimizer);
    QFETCH(bool, scaled);
    run::RunSpec spec;
    spec.optimizer = optimizer.toStdString();
    const std::vector<at::Tensor> weights{at::ones({300, 200}), at::ones({500})};
    const std::vector<at::Tensor> gradients{at::full({300, 200}, 0.5), at::ones({500})};
    const auto made = make_optimizer(spec, weights);
    AveragedWeights averages(weights, 0.9);
    const auto found = scaled ? std::optional(at::ones({})) : std::nullopt;
    const at::NoGradGuard no_grad;
    memory::BlockCounter counter;
    {
      const memory::NotCounted own(&counter);
      made->step(gradients, 0.01, 0.1, found);
      averages.update(found);
    }
    QVERIFY2(counter.peak() <= 4 * memory::block_granularity, qPrintable(QString::number(counter.peak())));
    QCOMPARE(weights[0][0][0].item().toDouble() != 1.0, !scaled); // what was found leaves them as they are
  }

  void batchNormFollowsTheRule_data() {
    QTest::addColumn<bool>("follows");
    QTest::newRow("none") << false;
    QTest::newRow("inverse") << true;
  }
  /// A micro batch of 2,048 moves the running statistics half as much.
  void batchNormFollowsTheRule() {
    QFETCH(bool, follows);
    run::RunSpec spec = small_spec(8, 1);
    spec.model = "cnn:width=2,norm=batch";
    spec.data = "synthetic:examples=2560,shape=1x8x8,classes=4";
    spec.batch_norm_rule = follows ? "inverse" : "none";
    const auto device = memory::open_device("cpu", spec.memory_budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(2048);
    std::iota(indices.begin(), indices.end(), 0);
    const auto moved = [&](std::size_t count) {
      const auto before = learner.snapshot();
      learner.attempt({MicroBatch(indices).first(count)});
      const auto after = learner.snapshot();
      learner.restore(*before);
      return (after->buffers[0] - before->buffers[0]).abs().sum().item().toDouble();
    };
    const double small = moved(1024), large = moved(2048);
    QVERIFY2(relative(large, follows ? small / 2 : small) < 0.1, qPrintable(QString("%1, %2").arg(small).arg(large)));
  }
};

BATCHSCOPE_TEST(TestOptimizer)
#include "tst_optimizer.moc"
