#include "conformance.h"
#include "core/base/error.h"
#include "test_program.h"
using namespace batchscope;

namespace {

const std::string device = "cuda:0";

} // namespace

class TestConformanceGpu : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    try {
      memory::open_device(device, std::nullopt);
    } catch (const Error& error) {
      QSKIP(error.what());
    }
  }
  void returnsToTheBaseline() { test::returnsToTheBaseline(device, 20); }
  void readsWithinTheLimit() { test::readsWithinTheLimit(device); }
  void findsTheExactLargestSize() { test::findsTheExactLargestSize(device); }
  void rollsBackWithoutATrace() { test::rollsBackWithoutATrace(device); }
};

BATCHSCOPE_TEST(TestConformanceGpu)
#include "tst_conformance_gpu.moc"
