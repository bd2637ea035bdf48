#include <QTest>

#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/train/detail/learner.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;
using namespace batchscope::train;

namespace {

/// The gradients of 60 examples, computed in parts of these sizes, as one vector.
at::Tensor gradients_of(const RunSpec& spec, const std::vector<std::size_t>& parts) {
  const auto device = memory::open_device("cpu", spec.memory_budget);
  Learner learner(spec, data::open_data(spec.data), *device);
  std::vector<std::int64_t> indices(60);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<MicroBatch> window;
  std::size_t from = 0;
  for (const std::size_t count : parts) {
    window.push_back(MicroBatch(indices).subspan(from, count));
    from += count;
  }
  learner.attempt(window);
  std::vector<at::Tensor> flat;
  for (const at::Tensor& gradient : learner.gradients())
    flat.push_back(gradient.flatten().to(at::kDouble));
  return at::cat(flat);
}

double distance(const RunSpec& spec, const std::vector<std::size_t>& parts) {
  const at::Tensor whole = gradients_of(spec, {60}), split = gradients_of(spec, parts);
  return (split - whole).norm().item<double>() / whole.norm().item<double>();
}

} // namespace

/// A step in several micro batches, by accumulation or after an out-of-memory error, has the gradients of one.
class TestSplitGradients : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void equalThoseOfTheWhole_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"cnn:width=8", "cnn:width=8,norm=group", "resnet:width=4,blocks=1", "mlp:hidden=32"})
      QTest::newRow(model) << QString(model);
  }
  void equalThoseOfTheWhole() {
    QFETCH(QString, model);
    RunSpec spec = small_spec(60, 1);
    spec.model = model.toStdString();
    for (const auto& parts : {std::vector<std::size_t>{15, 15, 15, 15}, {1, 58, 1}})
      QVERIFY2(distance(spec, parts) < 1e-6, qPrintable(QString::number(distance(spec, parts))));
  }

  /// Batch norm uses the statistics of a micro batch: that is what group norm is for.
  void differWithBatchNorm() {
    RunSpec spec = small_spec(60, 1);
    spec.model = "cnn:width=8,norm=batch";
    QVERIFY(distance(spec, {15, 15, 15, 15}) > 1e-3);
  }
};

BATCHSCOPE_TEST(TestSplitGradients)
#include "tst_split_gradients.moc"
