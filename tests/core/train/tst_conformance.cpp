#include "conformance.h"

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

QTEST_APPLESS_MAIN(TestConformance)
#include "tst_conformance.moc"
