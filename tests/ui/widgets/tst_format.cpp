#include <limits>

#include <QLocale>
#include <QTest>

#include "test_program.h"
#include "ui/widgets/format.h"

using namespace batchscope::ui;

class FormatTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() { QLocale::setDefault(QLocale::c()); }

  void counts() {
    QCOMPARE(format_count(0), "0");
    QCOMPARE(format_count(999), "999");
    QCOMPARE(format_count(1234), "1,234");
    QCOMPARE(format_count(-41208), "-41,208");
    QCOMPARE(format_count(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,854,775,807");
  }

  void bytes() {
    QCOMPARE(format_bytes(0), "0 B");
    QCOMPARE(format_bytes(999), "999 B");
    QCOMPARE(format_bytes(1000), "1.0 kB");
    QCOMPARE(format_bytes(366.2e6), "366.2 MB");
    QCOMPARE(format_bytes(999'949), "999.9 kB");
    QCOMPARE(format_bytes(999'960), "1.0 MB");
    QCOMPARE(format_bytes(-17.6e6), "-17.6 MB");
    QCOMPARE(format_bytes(8e10), "80.0 GB");
    QCOMPARE(format_bytes(2.5e15), "2,500.0 TB");
    QCOMPARE(format_bytes(qQNaN()), "–");
  }

  void durations() {
    QCOMPARE(format_clock(0), "0:00");
    QCOMPARE(format_clock(41.9), "0:41");
    QCOMPARE(format_clock(60), "1:00");
    QCOMPARE(format_clock(3723), "1:02:03");
    QCOMPARE(format_clock(360'000), "100:00:00");
    for (const double unknown : {-1.0, qQNaN(), qInf(), 1e12})
      QCOMPARE(format_clock(unknown), "–");
  }

  void short_durations() {
    QCOMPARE(format_duration(0), "0 ms");
    QCOMPARE(format_duration(0.0123), "12 ms");
    QCOMPARE(format_duration(0.000347), "0.35 ms");
    QCOMPARE(format_duration(0.0071), "7.1 ms");
    QCOMPARE(format_duration(2), "2.0 s");
    QCOMPARE(format_duration(19.9), "19.9 s");
    QCOMPARE(format_duration(41.9), "0:42");
    for (const double unknown : {-1.0, qQNaN(), qInf()})
      QCOMPARE(format_duration(unknown), "–");
  }

  void numbers_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<int>("digits");
    QTest::addColumn<QString>("text");
    QTest::newRow("zero") << 0.0 << 4 << "0";
    QTest::newRow("loss") << 0.15861 << 4 << "0.1586";
    QTest::newRow("no more digits than there are") << 0.5 << 4 << "0.5";
    QTest::newRow("rate") << 3.4e-3 << 4 << "0.0034";
    QTest::newRow("small") << 3.4e-5 << 4 << "3.4e-5";
    QTest::newRow("smaller") << -1.23456e-10 << 3 << "-1.23e-10";
    QTest::newRow("large") << 123'456.7 << 4 << "123,457";
    QTest::newRow("just large") << 9999.6 << 4 << "10,000";
    QTest::newRow("negative") << -2.5 << 4 << "-2.5";
    QTest::newRow("huge") << 3e15 << 4 << "3e15";
    QTest::newRow("NaN") << qQNaN() << 4 << "NaN";
    QTest::newRow("infinite") << qInf() << 4 << "∞";
    QTest::newRow("minus infinite") << -qInf() << 4 << "-∞";
  }
  void numbers() {
    QFETCH(double, value);
    QFETCH(int, digits);
    QFETCH(QString, text);
    QCOMPARE(format_number(value, digits), text);
  }

  void sharesAndParts() {
    QCOMPARE(format_percent(0.472), "47.20 %");
    QCOMPARE(format_percent(1, 0), "100 %");
    QCOMPARE(format_percent(qQNaN()), "NaN");
    QCOMPARE(format_parts(1, 272), "272");
    QCOMPARE(format_parts(2, 1136), "2 × 1,136");
  }

  void inTheReadersLocale() {
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    QCOMPARE(format_count(1234), "1.234");
    QCOMPARE(format_bytes(366.2e6), "366,2 MB");
    QCOMPARE(format_number(0.5), "0,5");
    QCOMPARE(format_number(3.4e-5), "3,4e-5");
  }
};

BATCHSCOPE_TEST(FormatTest)
#include "tst_format.moc"
