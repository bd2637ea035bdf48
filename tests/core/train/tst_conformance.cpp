#include "conformance.h"
#include "test_program.h"

using namespace batchscope;

namespace {

const std::string cpu = "cpu";

} // namespace

class TestConformance : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void returnsToTheBaseline() { test::returnsToTheBaseline(cpu, 20); }
  void readsWithinTheLimit() { test::readsWithinTheLimit(cpu); }
  void findsTheExactLargestSize() { test::findsTheExactLargestSize(cpu); }
  void rollsBackWithoutATrace() { test::rollsBackWithoutATrace(cpu); }
};

BATCHSCOPE_TEST(TestConformance)
#include "tst_conformance.moc"
