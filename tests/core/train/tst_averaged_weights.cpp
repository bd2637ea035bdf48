#include <QTest>

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "core/train/detail/averaged_weights.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;
using namespace batchscope::train;

class TestAveragedWeights : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followsTheFormula() {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> weights{at::zeros({3}), at::zeros({2, 2})};
    AveragedWeights averages(weights, 0.3);
    double expected = 0;
    for (int n = 1; n <= 20; ++n) {
      for (const at::Tensor& weight : weights)
        weight.fill_(n);
      averages.update({});
      const double decay = std::min(0.3, (1.0 + n) / (10.0 + n));
      expected = decay * expected + (1 - decay) * n;
      for (int i = 0; i < 2; ++i)
        QVERIFY(at::allclose(averages.state()[i], at::full(weights[i].sizes(), expected), 1e-5));
    }
    QCOMPARE(averages.state()[2].item<std::int64_t>(), std::int64_t{20});
  }

  /// Of a step whose gradients overflowed, the average takes nothing.
  void leavesOutOverflows() {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> weights{at::ones({3})};
    AveragedWeights averages(weights, 0.9);
    weights[0].fill_(2);
    averages.update(at::ones({}));
    QVERIFY(averages.state()[0].equal(at::ones({3})));
    averages.update(at::zeros({}));
    QVERIFY(!averages.state()[0].equal(at::ones({3})));
  }

  /// The model sees them in a scope, and the trained weights after it, in the same memory as before.
  void areInUseForAWhile() {
    const at::Tensor weight = at::ones({3}).requires_grad_();
    AveragedWeights averages({weight}, 0.9);
    {
      const at::NoGradGuard no_grad;
      weight.fill_(2);
    }
    const void* memory = weight.const_data_ptr();
    {
      const AveragedWeights::InUse in_use(averages);
      QVERIFY(weight.detach().equal(at::ones({3})));
      QVERIFY(averages.state()[0].equal(at::full({3}, 2.0)));
    }
    QVERIFY(weight.const_data_ptr() == memory && weight.detach().equal(at::full({3}, 2.0)));
    QVERIFY(weight.requires_grad() && weight.is_leaf());
  }

  /// Training is the same with and without them; only what is evaluated differs.
  void changeNoStep() {
    RunSpec spec = small_spec(40, 25);
    const FinishedRun plain = run_to_end(spec);
    spec.ema = 0.9;
    const FinishedRun averaged = run_to_end(spec);
    QCOMPARE(plain.recorded.records.size(), averaged.recorded.records.size());
    for (std::size_t i = 0; i < plain.recorded.records.size(); ++i)
      QCOMPARE(plain.recorded.records[i].loss, averaged.recorded.records[i].loss);
    QVERIFY(plain.outcome.validation_loss != averaged.outcome.validation_loss);
    QVERIFY(averaged.outcome.peak_bytes > plain.outcome.peak_bytes);
  }

  /// By accumulation or in one piece, there is one update for each step.
  void countSteps() {
    RunSpec spec = small_spec(40, 10);
    spec.ema = 0.9;
    const FinishedRun whole = run_to_end(spec);
    spec.batch.number = 10;
    spec.accumulate = 4;
    const FinishedRun parts = run_to_end(spec);
    QVERIFY(relative(*whole.outcome.validation_loss, *parts.outcome.validation_loss) < 1e-4);
  }
};

BATCHSCOPE_TEST(TestAveragedWeights)
#include "tst_averaged_weights.moc"
