#include <dlfcn.h>

#include <numeric>

#include <QTest>

#include "core/memory/device.h"
#include "core/pretended_gpu/library/gpus.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/torch_settings.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::train;

namespace {

using pretended_gpu::Counts;

/// What the pretended GPU has counted; the real driver does not.
Counts counted() {
  Counts counts;
  const auto read = reinterpret_cast<void (*)(Counts*)>(dlsym(RTLD_DEFAULT, "batchscope_pretended_counts"));
  if (read != nullptr)
    read(&counts);
  return counts;
}

} // namespace

/// How often the host waits for the GPU in a step: once, after the update was begun.
class TestWaitsGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    if (dlsym(RTLD_DEFAULT, "batchscope_pretended_counts") == nullptr)
      QSKIP("waits are counted on a pretended GPU");
  }

  void onceAStep_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("precision");
    QTest::addColumn<bool>("clip");
    QTest::addColumn<int>("micro_batches");
    QTest::newRow("plain") << "mlp:hidden=32"
                           << "fp32" << false << 1;
    QTest::newRow("clipped") << "mlp:hidden=32"
                             << "fp32" << true << 1;
    QTest::newRow("of four parts") << "mlp:hidden=32"
                                   << "fp32" << true << 4;
    QTest::newRow("batch norm") << "cnn:width=8,norm=batch"
                                << "fp32" << false << 1;
    QTest::newRow("with a loss scale") << "cnn:width=8,norm=batch"
                                       << "fp16" << true << 1;
    QTest::newRow("dropout") << "cnn:width=8,norm=batch"
                             << "bf16" << false << 1;
  }
  void onceAStep() {
    QFETCH(QString, model);
    QFETCH(QString, precision);
    QFETCH(bool, clip);
    QFETCH(int, micro_batches);
    run::RunSpec spec;
    spec.data = "synthetic:examples=64,shape=3x16x16,classes=4";
    spec.model = model.toStdString();
    spec.precision = precision.toStdString();
    spec.device = "cuda:0";
    spec.dropout = QString(QTest::currentDataTag()) == "dropout" ? 0.2 : 0;
    apply_torch_settings();
    const auto device = memory::open_device(spec.device, spec.memory_budget);
    Learner learner(spec, data::open_data(spec.data), *device);
    std::vector<std::int64_t> indices(32);
    std::iota(indices.begin(), indices.end(), 0);
    std::vector<MicroBatch> window;
    const std::size_t size = indices.size() / static_cast<std::size_t>(micro_batches);
    for (int i = 0; i < micro_batches; ++i)
      window.push_back(MicroBatch(indices).subspan(static_cast<std::size_t>(i) * size, size));
    const auto step = [&] {
      QVERIFY(!learner.attempt(window).out_of_memory);
      learner.update(0.1, 0.01, clip ? std::optional(0.5) : std::nullopt);
    };
    step();
    learner.computed();
    const Counts before = counted();
    step();
    const Counts updated = counted();
    learner.computed();
    const Counts after = counted();
    QVERIFY(after.launches > before.launches);
    QCOMPARE(updated.stream_waits + updated.event_waits + updated.device_waits,
             before.stream_waits + before.event_waits + before.device_waits);
    QCOMPARE(after.event_waits - before.event_waits, std::uint64_t{1});
    QCOMPARE(after.stream_waits + after.device_waits, before.stream_waits + before.device_waits);
    QCOMPARE(after.copies_to_host - before.copies_to_host, std::uint64_t{1});
  }
};

BATCHSCOPE_TEST(TestWaitsGpu)
#include "tst_waits_gpu.moc"
