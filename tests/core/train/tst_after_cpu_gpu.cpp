#include "core/base/error.h"
#include "core/run/engine.h"
#include "run_helpers.h"
#include "test_program.h"
#include "tests/gpu_needed.h"
using namespace batchscope;

/// LibTorch looks once whether a GPU can be used, at its first operation of almost any kind. The window's forms make
/// dry runs, and sweeps train on `cpu`, before a GPU is used in the same process.
class TestAfterCpuGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aGpuCanBeUsedAfterTheCpu() {
    run::RunSpec spec = small_spec(8, 2);
    const auto data = data::open_data(spec.data);
    const auto dry_run =
        run::engine().dry_run(spec, data.train->shape(), data.train->size(), run::Engine::Workspace::learn);
    QVERIFY(!dry_run->trace(8).events.empty());
    QVERIFY(run_to_end(spec).outcome.status == telemetry::RunStatus::finished);
    spec.device = "cuda:0";
    try {
      const auto session = run::open_session(spec);
    } catch (const Error& error) {
      SKIP_WITHOUT_GPU(error);
    }
    QVERIFY(run_to_end(spec).outcome.status == telemetry::RunStatus::finished);
  }
};

BATCHSCOPE_TEST(TestAfterCpuGpu)
#include "tst_after_cpu_gpu.moc"
