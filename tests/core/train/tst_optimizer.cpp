#include <QTest>

#include <cmath>
#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include "core/data/dataset.h"
#include "core/memory/device.h"
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
