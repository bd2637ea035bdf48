#include "core/base/utc.h"

#include <cmath>
#include <limits>

#include <QTest>

#include "test_program.h"

using namespace batchscope;

class TestUtc : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void textsAndBack() {
    QCOMPARE(QString::fromStdString(utc_text(0)), QString("1970-01-01T00:00:00Z"));
    QCOMPARE(QString::fromStdString(utc_text(1'769'860'800)), QString("2026-01-31T12:00:00Z"));
    for (const double seconds : {0.0, 951'782'400.0, 1'769'860'800.0, 4'102'444'799.0})
      QCOMPARE(unix_seconds(utc_text(seconds)), seconds);
    QCOMPARE(unix_seconds("2026-01-31T12:00:00.75Z"), 1'769'860'800.0);
    QVERIFY(unix_seconds(utc_now()) >= 1'769'860'800.0);
  }
  void whatIsNoTime() {
    QCOMPARE(QString::fromStdString(utc_text(std::nan(""))), QString("1970-01-01T00:00:00Z"));
    QCOMPARE(QString::fromStdString(utc_text(std::numeric_limits<double>::infinity())),
             QString("1970-01-01T00:00:00Z"));
    QCOMPARE(unix_seconds("yesterday"), 0.0);
    QCOMPARE(unix_seconds(""), 0.0);
  }
};

BATCHSCOPE_TEST(TestUtc)
#include "tst_utc.moc"
