#include <QTest>

#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/loss_scaler.h"
#include "core/train/detail/optimizer.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::train;

namespace {

using Tensors = std::vector<at::Tensor>;

double value(const at::Tensor& scalar) {
  return scalar.item().toDouble();
}

} // namespace

/// Here on `cpu`, which trains in fp16 no more than it needs a scale; the kernels are the GPU's by name.
class TestLossScaler : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void unscalesWhatItScaled() {
    LossScaler scaler(at::kCPU);
    QCOMPARE(value(scaler.scaled(0.25)), 16384.0);
    const Tensors gradients{at::full({3}, 65536.0), at::full({2}, -32768.0)};
    scaler.unscale(gradients);
    QCOMPARE(value(scaler.found()), 0.0);
    QVERIFY(gradients[0].equal(at::full({3}, 1.0)) && gradients[1].equal(at::full({2}, -0.5)));
  }

  void halvesAfterAnOverflowAndDoublesAfterManyGoodSteps() {
    LossScaler scaler(at::kCPU);
    const at::Tensor scale = scaler.state()[0];
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      const double before = value(scale);
      scaler.unscale({at::ones({2}), at::full({1}, bad)});
      QCOMPARE(value(scaler.found()), 1.0);
      scaler.update();
      QCOMPARE(value(scale), before / 2);
    }
    const double before = value(scale);
    for (int step = 0; step < 1999; ++step) {
      scaler.unscale({at::ones({2})});
      scaler.update();
    }
    QCOMPARE(value(scale), before);
    scaler.unscale({at::ones({2})});
    scaler.update();
    QCOMPARE(value(scale), 2 * before);
  }

  /// The norm that is clipped and recorded is that of the gradients as they are, not as they are scaled.
  void gradientsAreUnscaledBeforeTheyAreClipped() {
    run::RunSpec spec = small_spec(8, 1);
    spec.optimizer = "sgd";
    spec.momentum = 0;
    const auto step = [&](const char* precision) {
      spec.precision = precision;
      const auto device = memory::open_device("cpu", spec.memory_budget);
      Learner learner(spec, data::open_data(spec.data), *device);
      const std::vector<std::int64_t> indices{0, 1, 2, 3, 4, 5, 6, 7};
      const auto before = learner.snapshot();
      learner.attempt({indices});
      learner.update(1.0, 0.0, learner.computed().grad_norm / 2);
      const auto after = learner.snapshot();
      double moved = 0;
      for (std::size_t i = 0; i < before->parameters.size(); ++i)
        moved += (after->parameters[i] - before->parameters[i]).square().sum().item().toDouble();
      return std::pair(learner.computed().grad_norm, std::sqrt(moved));
    };
    const auto [full_norm, full_step] = step("fp32");
    const auto [half_norm, half_step] = step("fp16");
    QVERIFY2(relative(half_norm, full_norm) < 0.01, qPrintable(QString("%1 and %2").arg(half_norm).arg(full_norm)));
    QVERIFY(relative(half_step, half_norm / 2) < 1e-4);
    QVERIFY(relative(full_step, full_norm / 2) < 1e-4);
  }

  void anOverflowChangesNoWeight_data() {
    QTest::addColumn<QString>("optimizer");
    for (const char* optimizer : {"adamw", "adam", "sgd", "rmsprop"})
      QTest::newRow(optimizer) << QString(optimizer);
  }
  /// Nor anything that the optimizer keeps.
  void anOverflowChangesNoWeight() {
    QFETCH(QString, optimizer);
    run::RunSpec spec;
    spec.optimizer = optimizer.toStdString();
    const at::NoGradGuard no_grad;
    const Tensors weights{at::ones({3})};
    const auto made = make_optimizer(spec, weights);
    LossScaler scaler(at::kCPU);
    const auto step = [&](double gradient) {
      const Tensors gradients{at::full({3}, gradient)};
      scaler.unscale(gradients);
      made->step(gradients, 0.1, 0.01, scaler.found());
      scaler.update();
    };
    step(65536);
    QVERIFY(!weights[0].equal(at::ones({3})));
    Tensors before{weights[0].clone()};
    for (const at::Tensor& each : made->state())
      before.push_back(each.clone());
    step(std::numeric_limits<double>::infinity());
    QVERIFY(weights[0].equal(before[0]));
    for (std::size_t i = 0; i < made->state().size(); ++i)
      QVERIFY(made->state()[i].equal(before[i + 1]));
    step(65536);
    QVERIFY(!weights[0].equal(before[0]));
  }
};

BATCHSCOPE_TEST(TestLossScaler)
#include "tst_loss_scaler.moc"
