#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <numeric>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include "core/checkpoint/safetensors.h"
#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/stepper.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;
using namespace batchscope::train;

namespace {

constexpr std::int64_t fits = 32;
constexpr std::int64_t asked = 4 * fits;
constexpr std::uint64_t tight = 4'000'000;
constexpr std::uint64_t enough = 400'000'000;

/// Of the demo images; the net has group norm.
RunSpec demo_spec(std::uint64_t budget) {
  RunSpec spec = small_spec(fits, 16);
  spec.model = "cnn:width=8,norm=group";
  spec.data = "demo";
  spec.memory_budget = budget;
  return spec;
}

at::Tensor flat(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors)
    all.push_back(tensor.flatten().to(at::kDouble));
  return at::cat(all);
}

double apart(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

/// A run with its weights at the end, as one vector.
struct Ended {
  FinishedRun run;
  std::vector<double> weights;

  std::int64_t most_parts() const {
    std::int64_t most = 0;
    for (const auto& record : run.recorded.records)
      most = std::max(most, record.micro_batches);
    return most;
  }
};

Ended run_with(std::uint64_t budget, const QTemporaryDir& folder) {
  RunSpec spec = demo_spec(budget);
  spec.schedule = "piecewise:0=32,4=128";
  spec.save = folder.filePath("weights.safetensors").toStdString();
  Ended ended{run_to_end(spec), {}};
  for (const checkpoint::Tensor& tensor : checkpoint::read_safetensors(spec.save)) {
    std::vector<float> values(tensor.bytes / sizeof(float));
    std::memcpy(values.data(), tensor.data.get(), tensor.bytes);
    ended.weights.insert(ended.weights.end(), values.begin(), values.end());
  }
  return ended;
}

double apart(const Ended& a, const Ended& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.weights.size(); ++i)
    sum += (a.weights[i] - b.weights[i]) * (a.weights[i] - b.weights[i]);
  return std::sqrt(sum);
}

} // namespace

/// A schedule that asks for four times what fits.
class TestMemoryForAQuarter : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// From the same weights, at every step, whatever memory refused: no further from them than the gradients of the same
  /// examples in another order, which is what rounding in single precision comes to (some 1e-5 with these images).
  void gradientsAreThoseOfEnoughMemory() {
    const auto device = memory::open_device("cpu", enough);
    Learner learner(demo_spec(enough), data::open_data("demo"), *device);
    Stepper stepper(learner, OnOom::shrink);
    const auto gradients_of = [&](const std::vector<std::int64_t>& examples) {
      const auto before = learner.snapshot();
      learner.attempt({MicroBatch(examples)});
      const at::Tensor gradients = flat(learner.gradients());
      learner.update(0.001, 0.0, std::nullopt); // frees the gradients; undone
      learner.restore(*before);
      return gradients;
    };
    std::vector<std::int64_t> examples(static_cast<std::size_t>(asked));
    std::size_t refused = 0;
    for (std::int64_t step = 0; step < 12; ++step) {
      std::iota(examples.begin(), examples.end(), step * asked);
      const at::Tensor whole = gradients_of(examples);
      const double rounding = apart(gradients_of({examples.rbegin(), examples.rend()}), whole);
      device->set_budget(tight);
      const StepOutcome outcome = stepper.run({MicroBatch(examples)});
      device->set_budget(enough);
      QVERIFY(outcome.ready && outcome.micro_batches > 1);
      refused += outcome.out_of_memory.size();
      const double off = apart(flat(learner.gradients()), whole);
      QVERIFY2(off < std::max(1e-6, 3 * rounding), qPrintable(QString("%1 and %2").arg(off).arg(rounding)));
      learner.update(0.001, 0.0, std::nullopt);
    }
    QVERIFY(refused > 0);
  }

  /// Rounding grows as training goes on: no more than between two runs that were split in different ways.
  void endsLikeARunThatIsSplitDifferently() {
    const QTemporaryDir folder;
    const Ended roomy = run_with(enough, folder), split = run_with(tight, folder);
    const Ended thirds = run_with(6'500'000, folder), eighths = run_with(2'500'000, folder);
    QCOMPARE(roomy.run.outcome.oom_events, std::int64_t{0});
    QCOMPARE(roomy.most_parts(), std::int64_t{1});
    QVERIFY(thirds.most_parts() > 1 && thirds.most_parts() < split.most_parts());
    QVERIFY(eighths.most_parts() > split.most_parts());
    const double off = apart(split, roomy), other = apart(thirds, eighths);
    QVERIFY2(off <= 3 * other, qPrintable(QString("%1 and %2").arg(off).arg(other)));

    std::int64_t seen = 0;
    for (std::size_t i = 0; i < split.run.recorded.records.size(); ++i) {
      const auto& record = split.run.recorded.records[i];
      seen += i < 4 ? fits : asked; // as planned
      QCOMPARE(record.examples_seen, seen);
      QCOMPARE(record.examples_seen, roomy.run.recorded.records[i].examples_seen);
    }
    QCOMPARE(static_cast<std::int64_t>(split.run.recorded.details("oom").size()), split.run.outcome.oom_events);
    QVERIFY(split.run.outcome.oom_events > 0);
  }
};

BATCHSCOPE_TEST(TestMemoryForAQuarter)
#include "tst_memory_for_a_quarter.moc"
