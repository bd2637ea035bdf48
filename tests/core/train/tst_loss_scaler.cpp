#include <QTest>

#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include "core/train/detail/loss_scaler.h"
#include "core/train/detail/optimizer.h"
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

  void anOverflowChangesNoWeight_data() {
    QTest::addColumn<QString>("optimizer");
    for (const char* optimizer : {"adamw", "adam", "sgd"})
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
