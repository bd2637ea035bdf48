#include <QDateTime>
#include <QTest>

#include "test_program.h"
#include "ui/plot/detail/view.h"
#include "ui/plot/detail/y_fit.h"
#include "ui/plot/ticks.h"

using namespace batchscope::ui;

/// The arithmetic of axes, without a widget.
class TestPlotScales : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void linear_ticks_data();
  void linear_ticks();
  void clock_ticks_data();
  void clock_ticks();
  void clock_ticks_when_clocks_are_changed();
  void log_ticks_data();
  void log_ticks();
  void numbers_data();
  void numbers();
  void y_has_room_and_stays();
  void y_without_height();
  void y_on_a_logarithmic_axis();
  void a_view_shows_all_until_told_otherwise();
  void zooming_keeps_the_place();
  void moving_stays_within_what_there_is();
  void following_keeps_the_width();
};

namespace {

QString joined(const Ticks& ticks) {
  return QStringList(ticks.labels.begin(), ticks.labels.end()).join(QLatin1Char(' '));
}

} // namespace

void TestPlotScales::linear_ticks_data() {
  QTest::addColumn<double>("from");
  QTest::addColumn<double>("to");
  QTest::addColumn<int>("most");
  QTest::addColumn<bool>("integer");
  QTest::addColumn<QString>("labels");
  QTest::newRow("hundreds") << -12.0 << 430.0 << 5 << false << "0 100 200 300 400";
  QTest::newRow("thousands") << 0.0 << 1500.0 << 4 << false << "0 500 1,000 1,500";
  QTest::newRow("parts of one") << 0.0 << 2.3 << 5 << false << "0 0.5 1.0 1.5 2.0";
  QTest::newRow("whole only") << 0.0 << 3.0 << 10 << true << "0 1 2 3";
  QTest::newRow("below zero") << -1.0 << 1.0 << 4 << false << "-1.0 -0.5 0 0.5 1.0";
  QTest::newRow("small") << 0.0 << 4e-6 << 4 << false << "0 10⁻⁶ 2·10⁻⁶ 3·10⁻⁶ 4·10⁻⁶";
  QTest::newRow("millions") << 0.0 << 6e7 << 3 << true << "0 20M 40M 60M";
  QTest::newRow("just a million") << 0.0 << 1e6 << 2 << true << "0 500,000 1,000,000";
  QTest::newRow("far out, close together")
      << 1e6 << 1e6 + 4 << 4 << true << "1,000,000 1,000,001 1,000,002 1,000,003 1,000,004";
  QTest::newRow("nothing") << 1.0 << 1.0 << 4 << false << "";
}

void TestPlotScales::linear_ticks() {
  QFETCH(double, from);
  QFETCH(double, to);
  QFETCH(int, most);
  QFETCH(bool, integer);
  QFETCH(QString, labels);
  const Ticks ticks = batchscope::ui::linear_ticks({from, to}, most, integer);
  QCOMPARE(joined(ticks), labels);
  QCOMPARE(ticks.places.size(), ticks.labels.size());
  for (const double place : ticks.places)
    QVERIFY(place >= from - 1e-9 && place <= to + 1e-9);
}

void TestPlotScales::clock_ticks_data() {
  QTest::addColumn<QString>("from"); // of this zone, an hour ahead of UTC
  QTest::addColumn<int>("seconds");
  QTest::addColumn<int>("most");
  QTest::addColumn<QString>("labels");
  QTest::newRow("seconds") << "2026-01-31T12:00:03" << 10 << 6 << "12:00:04 12:00:06 12:00:08 12:00:10 12:00:12";
  QTest::newRow("minutes") << "2026-01-31T12:01:00" << 20 * 60 << 5 << "12:05 12:10 12:15 12:20";
  QTest::newRow("past midnight") << "2026-01-31T22:30:00" << 4 * 3600 << 4 << "23:00 1 Feb 01:00 02:00";
  QTest::newRow("hours at round ones of the zone") << "2026-01-31T10:00:00" << 14 * 3600 << 4 << "12:00 18:00 1 Feb";
  QTest::newRow("days") << "2026-01-31T12:00:00" << 4 * 86400 << 4 << "1 Feb 2 Feb 3 Feb 4 Feb";
  QTest::newRow("less than a second apart") << "2026-01-31T12:00:00" << 1 << 20 << "12:00:00 12:00:01";
  QTest::newRow("nothing") << "2026-01-31T12:00:00" << 0 << 4 << "";
}

void TestPlotScales::clock_ticks() {
  QFETCH(QString, from);
  QFETCH(int, seconds);
  QFETCH(int, most);
  QFETCH(QString, labels);
  const QTimeZone zone(3600);
  QDateTime begin = QDateTime::fromString(from, Qt::ISODate);
  begin.setTimeZone(zone);
  const auto first = static_cast<double>(begin.toSecsSinceEpoch());
  const Ticks ticks = batchscope::ui::clock_ticks({first, first + seconds}, most, zone);
  QCOMPARE(joined(ticks), labels);
  for (const double place : ticks.places)
    QVERIFY(place >= first && place <= first + seconds);
  QVERIFY(batchscope::ui::clock_ticks({0, 1e300}, most, zone).places.isEmpty()); // no dates
}

/// In Berlin, 25 October 2026 has 25 hours.
void TestPlotScales::clock_ticks_when_clocks_are_changed() {
  const QTimeZone berlin("Europe/Berlin");
  if (!berlin.isValid())
    QSKIP("no data of time zones");
  const auto at = [&](int day, int hour) {
    return static_cast<double>(QDateTime({2026, 10, day}, {hour, 0}, berlin).toSecsSinceEpoch());
  };
  QCOMPARE(joined(batchscope::ui::clock_ticks({at(24, 12), at(27, 12)}, 4, berlin)), "25 Oct 26 Oct 27 Oct");
  QCOMPARE(joined(batchscope::ui::clock_ticks({at(24, 23), at(25, 19)}, 4, berlin)), "25 Oct 06:00 12:00 18:00");
}

void TestPlotScales::log_ticks_data() {
  QTest::addColumn<double>("from");
  QTest::addColumn<double>("to");
  QTest::addColumn<int>("most");
  QTest::addColumn<QString>("labels");
  QTest::newRow("decades") << 0.01 << 1000.0 << 6 << "0.01 0.1 1 10 100 1,000";
  QTest::newRow("within a decade or two") << 1.0 << 60.0 << 6 << "1 2 5 10 20 50";
  QTest::newRow("many") << 1e-8 << 1e8 << 4 << "10⁻⁸ 0.0001 1 10,000 10⁸";
  QTest::newRow("hardly any") << 2.0 << 6.0 << 4 << "2 3 4 5 6";
  QTest::newRow("not positive") << -1.0 << 10.0 << 4 << "";
}

void TestPlotScales::log_ticks() {
  QFETCH(double, from);
  QFETCH(double, to);
  QFETCH(int, most);
  QFETCH(QString, labels);
  QCOMPARE(joined(batchscope::ui::log_ticks({from, to}, most)), labels);
}

void TestPlotScales::numbers_data() {
  QTest::addColumn<double>("value");
  QTest::addColumn<QString>("text");
  QTest::newRow("whole") << 12345.0 << "12,345";
  QTest::newRow("zero") << 0.0 << "0";
  QTest::newRow("part") << 0.158612 << "0.15861";
  QTest::newRow("no needless zeros") << 2.5 << "2.5";
  QTest::newRow("many digits") << 249.41234 << "249.41";
  QTest::newRow("tiny") << 3.4e-7 << "3.4000e-07";
  QTest::newRow("negative") << -1.5 << "-1.5";
  QTest::newRow("none") << std::nan("") << "NaN";
  QTest::newRow("infinite") << HUGE_VAL << "∞";
}

void TestPlotScales::numbers() {
  QFETCH(double, value);
  QFETCH(QString, text);
  QCOMPARE(number_text(value), text);
}

void TestPlotScales::y_has_room_and_stays() {
  const FitRules keep{.from_zero = true, .log = false, .keep = true};
  const Range first = fitted(Range(20, 100), {0, 1}, keep);
  QVERIFY(first.first < 0 && first.first > -10); // a line at zero would be seen
  QVERIFY(first.second > 100 && first.second < 120);
  QCOMPARE(fitted(Range(10, 104), first, keep), first); // it still serves
  QCOMPARE(fitted(Range(10, 70), first, keep), first);
  QVERIFY(fitted(Range(10, 130), first, keep).second > 130);
  QVERIFY(fitted(Range(10, 40), first, keep).second < 50); // would fill less than half
  QVERIFY(fitted(Range(10, 70), first, {.from_zero = true, .log = false, .keep = false}).second < 80);
  QVERIFY(fitted(Range(-50, 70), first, keep).first < -50);
  QCOMPARE(fitted(std::nullopt, first, keep), first);
}

void TestPlotScales::y_without_height() {
  const FitRules rules{.from_zero = false, .log = false, .keep = false};
  for (const double value : {0.0, 5.0, -3.0}) {
    const Range range = fitted(Range(value, value), {0, 1}, rules);
    QVERIFY(range.first < value && range.second > value);
  }
  const Range zero = fitted(Range(0, 0), {5, 6}, {.from_zero = true, .log = false, .keep = false});
  QVERIFY(zero.first < 0 && zero.second >= 1);
}

void TestPlotScales::y_on_a_logarithmic_axis() {
  const FitRules rules{.from_zero = true, .log = true, .keep = false};
  const Range range = fitted(Range(0.01, 100), {0, 1}, rules);
  QVERIFY(range.first > 0 && range.first < 0.01 && range.second > 100 && range.second < 1000);
  const Range one = fitted(Range(3, 3), {0, 1}, rules);
  QVERIFY(one.first > 0 && one.first < 3 && one.second > 3);
}

void TestPlotScales::a_view_shows_all_until_told_otherwise() {
  View view;
  view.set_full(Range(1, 1000), 1000);
  QCOMPARE(view.range(), Range(0, 1000)); // one before is where counting begins
  view.set_full(Range(1, 2000), 2000);
  QCOMPARE(view.range(), Range(0, 2000));
  QVERIFY(view.following());
  view.show(100, 200);
  QVERIFY(!view.following());
  view.set_full(Range(1, 3000), 3000);
  QCOMPARE(view.range(), Range(100, 200));
  view.show(200, 100); // either way round
  QCOMPARE(view.range(), Range(100, 200));
  view.show(std::nan(""), 5);
  QCOMPARE(view.range(), Range(100, 200));
  view.show(-5, 9999);
  QCOMPARE(view.range(), Range(0, 3000));
  QVERIFY(view.following());
  view.set_following(false);
  view.set_full(Range(1, 4000), 4000);
  QCOMPARE(view.range(), Range(0, 3000));
  view.set_full(Range(40, 40), 40);
  view.show_all();
  QVERIFY(view.range().second > view.range().first);
}

void TestPlotScales::zooming_keeps_the_place() {
  for (const bool log : {false, true}) {
    View view;
    view.set_values(XValues::real);
    view.set_log(log);
    view.set_full(Range(1, 1000), 1000);
    const auto fraction = [&](double x) {
      return (to_place(x, log) - to_place(view.range().first, log)) /
             (to_place(view.range().second, log) - to_place(view.range().first, log));
    };
    const double before = fraction(300);
    view.zoom(0.5, 300);
    QVERIFY(std::abs(fraction(300) - before) < 1e-9);
    view.zoom(0.25, 300);
    QVERIFY(std::abs(fraction(300) - before) < 1e-9);
    QVERIFY(!view.following());
    for (int i = 0; i < 200; ++i)
      view.zoom(0.5, 300);
    QVERIFY(view.range().second > view.range().first); // as far as numbers go
    for (int i = 0; i < 200; ++i)
      view.zoom(2, 300);
    QCOMPARE(view.range(), view.full());
    QVERIFY(view.following());
  }
}

void TestPlotScales::moving_stays_within_what_there_is() {
  View view;
  view.set_full(Range(0, 100), 100);
  view.move(view.range(), 0.5); // all is there already
  QVERIFY(view.following());
  view.show(40, 60);
  view.move({40, 60}, 0.5);
  QCOMPARE(view.range(), Range(50, 70));
  view.move({40, 60}, 100);
  QCOMPARE(view.range(), Range(80, 100));
  view.move({40, 60}, -100);
  QCOMPARE(view.range(), Range(0, 20));
}

void TestPlotScales::following_keeps_the_width() {
  View view;
  view.set_full(Range(0, 1000), 500);
  view.show(100, 300);
  view.set_following(true);
  view.set_full(Range(0, 1000), 500);
  QCOMPARE(view.range(), Range(300, 500));
  view.set_full(Range(0, 1000), 640);
  QCOMPARE(view.range(), Range(440, 640));
  view.zoom(0.5, 500);
  QVERIFY(!view.following());
  const Range range = view.range();
  view.set_full(Range(0, 1000), 900);
  QCOMPARE(view.range(), range);
}

BATCHSCOPE_TEST(TestPlotScales)
#include "tst_plot_scales.moc"
