#include "core/compare/mean_text.h"

#include <cmath>
#include <random>

#include <QTest>

#include "test_program.h"

using namespace batchscope;
using namespace batchscope::compare;
using telemetry::ValueKind;

class TestMeanText : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void digitsFollowTheInterval_data();
  void digitsFollowTheInterval();
  void theValueIsNotChanged();
};

void TestMeanText::digitsFollowTheInterval_data() {
  QTest::addColumn<int>("kind");
  QTest::addColumn<QList<double>>("values");
  QTest::addColumn<QString>("text");
  const auto row = [](ValueKind kind, const QList<double>& values, const char* text) {
    QTest::newRow(text) << int(kind) << values << text;
  };
  row(ValueKind::fraction, {0.963}, "96.30 %");
  row(ValueKind::fraction, {0.9625, 0.9626}, "96.25 % ± 0.06"); // half of 12.7 x 0.01
  row(ValueKind::fraction, {0.95, 0.96, 0.955}, "95.5 % ± 1.2");
  row(ValueKind::fraction, {0.95, 0.95, 0.95}, "95.00 %");
  row(ValueKind::number, {0.132, 0.134, 0.131, 0.133}, "0.1325 ± 0.0021");
  row(ValueKind::number, {0.1, 0.2}, "0.2 ± 0.6");
  row(ValueKind::number, {1.152e-6}, "1.152e-06");
  row(ValueKind::number, {1.15e-6, 1.16e-6, 1.17e-6}, "1.160e-6 ± 0.025e-6");
  row(ValueKind::number, {0.132, 0.132000001}, "0.132");
  row(ValueKind::count, {8000, 8010, 8020}, "8,010 ± 25");
  row(ValueKind::count, {7}, "7");
  row(ValueKind::bytes, {3.31e6, 3.32e6, 3.30e6}, "3.310 MB ± 0.025");
  row(ValueKind::bytes, {3.3e6, 3.300001e6}, "3.3 MB");
  row(ValueKind::seconds, {0.1, 0.11}, "105 ms ± 64");
  row(ValueKind::seconds, {10.1, 10.2, 10.3}, "10.20 s ± 0.25");
  row(ValueKind::seconds, {600, 620, 610}, "10:10 ± 0:25");
}

void TestMeanText::digitsFollowTheInterval() {
  QFETCH(int, kind);
  QFETCH(QList<double>, values);
  QFETCH(QString, text);
  const Summary summary = summarize({values.begin(), values.end()});
  QCOMPARE(QString::fromStdString(mean_text(static_cast<ValueKind>(kind), summary).whole()), text);
}

/// Whatever the sizes, what is written is the mean and the interval to the last digit that it has.
void TestMeanText::theValueIsNotChanged() {
  std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
  std::uniform_real_distribution<double> exponent(-12, 12), size(1, 10);
  for (int i = 0; i < 5000; ++i) {
    const double mean = size(random) * std::pow(10, std::floor(exponent(random)));
    const double spread = mean * std::pow(10, exponent(random) / 4);
    const Summary summary{.n = 3, .mean = mean, .deviation = spread};
    const QString text = QString::fromStdString(mean_text(ValueKind::number, summary).whole());
    const QStringList parts = text.split(" ± ");
    const auto number = [](QString part) { return part.remove(',').toDouble(); };
    const double half = half_interval(summary).value_or(0);
    if (parts.size() == 1) {
      QVERIFY2(half < 1e-3 * mean, qPrintable(text));
      QVERIFY2(std::abs(number(text) - mean) <= 5.1e-4 * mean, qPrintable(text));
      continue;
    }
    QVERIFY2(std::abs(number(parts[1]) - half) <= 0.18 * half + 1e-4 * mean, qPrintable(text));
    QVERIFY2(std::abs(number(parts[0]) - mean) <= 0.51 * half, qPrintable(text));
    QVERIFY2(text.size() < 40, qPrintable(text));
  }
}

BATCHSCOPE_TEST(TestMeanText)
#include "tst_mean_text.moc"
