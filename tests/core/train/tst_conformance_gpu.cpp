#include "conformance.h"
#include "core/base/error.h"
#include "test_program.h"
#include "tests/gpu_needed.h"
using namespace batchscope;

namespace {

const std::string gpu = "cuda:0";

} // namespace

class TestConformanceGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    try {
      memory::open_device(gpu, std::nullopt);
    } catch (const Error& error) {
      SKIP_WITHOUT_GPU(error);
    }
  }
  void returnsToTheBaseline() { test::returnsToTheBaseline(gpu, 20); }
  void readsWithinTheLimit() { test::readsWithinTheLimit(gpu); }
  void findsTheExactLargestSize() { test::findsTheExactLargestSize(gpu); }
  void rollsBackWithoutATrace() { test::rollsBackWithoutATrace(gpu); }
};

BATCHSCOPE_TEST(TestConformanceGpu)
#include "tst_conformance_gpu.moc"
