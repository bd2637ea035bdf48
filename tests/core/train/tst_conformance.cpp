#include "conformance.h"
#include "test_program.h"

using namespace batchscope;

namespace {

const std::string device = "cpu";

} // namespace

class TestConformance : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void returnsToTheBaseline() { test::returnsToTheBaseline(device, 20); }
  void readsWithinTheLimit() { test::readsWithinTheLimit(device); }
  void findsTheExactLargestSize() { test::findsTheExactLargestSize(device); }
  void rollsBackWithoutATrace() { test::rollsBackWithoutATrace(device); }
};

BATCHSCOPE_TEST(TestConformance)
#include "tst_conformance.moc"
