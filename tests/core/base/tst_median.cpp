#include "core/base/median.h"

#include <QTest>

#include "test_program.h"

using namespace batchscope;

class TestMedian : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isTheMiddle() {
    QCOMPARE(median({7}), 7.0);
    QCOMPARE(median({9, 1, 5}), 5.0);
    QCOMPARE(median({4, 1, 3, 100}), 3.5);
    QCOMPARE(median({2, 2, 2, 2}), 2.0);
  }
};

BATCHSCOPE_TEST(TestMedian)
#include "tst_median.moc"
