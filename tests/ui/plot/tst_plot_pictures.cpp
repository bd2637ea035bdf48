#include <random>

#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What is to be seen.
class TestPlotPictures : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }
  void init() { theme_.set_mode(Theme::Mode::light); }

  void what_came_since_is_drawn();
  void spikes_never_vanish();
  void values_that_are_none_leave_a_gap_and_a_mark();
  void a_lone_value_is_a_dot();
  void crowded_and_dashed_lines_are_drawn();
  void all_panels_have_the_same_margins();
  void colors_follow_the_theme();
  void limits_bands_and_arrows_are_drawn();
  void the_label_of_a_limit_leaves_marks_free();

private:
  Theme theme_;
};

void TestPlotPictures::what_came_since_is_drawn() {
  // Added bit by bit, it has to look like what is drawn at once.
  const auto history = std::make_shared<series::History>();
  std::mt19937 random(5);
  std::normal_distribution<double> noise(10, 1);
  Values losses;
  for (int i = 0; i < 30'000; ++i)
    losses.push_back(i % 7001 == 7000 ? 30 : i % 5001 == 5000 ? not_a_number : noise(random));
  Plots grown(theme_);
  grown.add_curve(0, std::make_shared<HistoryCurve>(history, "loss", series::Axis::step), named("a"));
  grown.set_end(30'000);
  grown.put_up();
  for (std::size_t i = 0; i < losses.size(); ++i) {
    telemetry::StepRecord record = step_record(static_cast<std::int64_t>(i) + 1);
    record.loss = losses[i];
    history->append(record);
    if (i % 250 == 0)
      grown.refresh_now();
  }
  grown.show_all(); // chooses y anew
  grown.settle();
  Plots whole(theme_);
  whole.add_curve(0, std::make_shared<HistoryCurve>(history, "loss", series::Axis::step), named("a"));
  whole.set_end(30'000);
  whole.put_up();
  const QImage one = grown.to_image(1), other = whole.to_image(1);
  QCOMPARE(one.size(), other.size());
  int different = 0;
  for (int y = 0; y < one.height(); ++y)
    for (int x = 0; x < one.width(); ++x)
      different += one.pixel(x, y) != other.pixel(x, y);
  QVERIFY2(different < one.width() * one.height() / 100, qPrintable(QString::number(different)));
  const QColor color = theme_.series(0);
  for (const double x : {7001.0, 14002.0, 21003.0, 28004.0})
    QVERIFY(count_color(one, color, QRect(grown.at(x, 30) - QPoint(2, 2), QSize(5, 30))) > 5);
}

void TestPlotPictures::spikes_never_vanish() {
  constexpr int count = 200'000;
  std::mt19937 random(11);
  Values y(count, 1);
  const int place = 5000 + static_cast<int>(random() % 190'000U);
  y[static_cast<std::size_t>(place)] = 100;
  Plots plots(theme_);
  plots.add_curve(0, points(counted(0, count), y), named("a"));
  plots.put_up();
  const QColor color = theme_.series(0);
  for (const double width : {200'000.0, 90'000.0, 11'111.0, 777.0, 20.0}) {
    const double from = std::clamp(place - width / 3, 0.0, count - width);
    plots.show_range(from, std::min(from + width, count - 1.0));
    plots.settle();
    const QRect tip(plots.at(place, 100) - QPoint(4, 2), QSize(9, 30));
    QVERIFY2(count_color(plots.to_image(1), color, tip) > 8, qPrintable(QString("width %1").arg(width)));
  }
}

void TestPlotPictures::values_that_are_none_leave_a_gap_and_a_mark() {
  Values y(100, 5);
  for (std::size_t i = 40; i < 60; ++i)
    y[i] = not_a_number;
  Plots plots(theme_);
  CurveStyle style = named("a");
  style.steps = true;
  plots.add_curve(0, points(counted(0, 100), y), style);
  plots.put_up();
  const QImage image = plots.to_image(1);
  const QColor color = theme_.series(0), warning = theme_.color(Role::warning);
  const auto around = [&](double x) { return QRect(plots.at(x, 5) - QPoint(3, 3), QSize(7, 7)); };
  QVERIFY(count_color(image, color, around(20)) > 0);
  QVERIFY(count_color(image, color, around(50)) == 0);
  QVERIFY(count_color(image, color, around(80)) > 0);
  const QRect all_above(0, 0, image.width(), plots.at(50, 5).y());
  QVERIFY(count_color(image, warning, all_above) > 20);
  plots.show_range(0, 30);
  plots.settle();
  QCOMPARE(count_color(plots.to_image(1), warning), 0);
}

void TestPlotPictures::a_lone_value_is_a_dot() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 5, 10}, {not_a_number, 4, not_a_number}), named("", 2));
  CurveStyle staircase = named("", 5);
  staircase.steps = true;
  plots.add_curve(0, points({8}, {2}), staircase);
  plots.set_end(20);
  plots.put_up();
  const QImage image = plots.to_image(1);
  QVERIFY(count_color(image, theme_.series(2), QRect(plots.at(5, 4) - QPoint(3, 3), QSize(7, 7))) >= 4);
  QVERIFY(count_color(image, theme_.series(5), QRect(plots.at(8, 2) - QPoint(3, 3), QSize(7, 7))) >= 4);
}

void TestPlotPictures::crowded_and_dashed_lines_are_drawn() {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(50, 10);
  Values y;
  for (int i = 0; i < 20'000; ++i)
    y.push_back(noise(random));
  Plots plots(theme_, 4);
  const auto part = [&](const QImage& image, int panel, int series) {
    return count_color(image, theme_.series(series), QRect(plots.at(0, 80, panel), plots.at(19'999, 20, panel)));
  };
  CurveStyle dashed = named("b", 1);
  dashed.dashed = true;
  CurveStyle wide = named("c", 2);
  wide.highlighted = true;
  CurveStyle staircase = named("d", 3);
  staircase.steps = true;
  plots.add_curve(0, points(counted(0, 20'000), y), named("a"));
  plots.add_curve(1, points(counted(0, 20'000), y), dashed);
  plots.add_curve(2, points(counted(0, 20'000), y), wide);
  plots.add_curve(3, points(counted(0, 20'000), y), staircase);
  plots.put_up();
  const QImage image = plots.to_image(1);
  const int solid = part(image, 0, 0), gaps = part(image, 1, 1);
  QVERIFY(solid > 10'000);
  QVERIFY(gaps > solid / 2 && gaps < solid * 8 / 10); // nine of thirteen columns
  QVERIFY(part(image, 2, 2) >= solid);
  QVERIFY(part(image, 3, 3) > solid * 8 / 10);
}

void TestPlotPictures::all_panels_have_the_same_margins() {
  Plots plots(theme_, 3);
  plots.add_curve(0, points({0, 10}, {0, 1}), named("a"));
  plots.add_curve(1, points({0, 10}, {0, 123'456}), named("b"));
  plots.add_curve(2, points({0, 10}, {0, 0.001}), named("c"));
  plots.put_up();
  for (const double x : {0.0, 10.0}) {
    QCOMPARE(plots.at(x, 0, 0).x(), plots.at(x, 0, 1).x());
    QCOMPARE(plots.at(x, 0, 0).x(), plots.at(x, 0, 2).x());
  }
  // Labels fit: nothing is written at the very border.
  const QImage image = plots.to_image(1);
  QCOMPARE(count_color(image, theme_.color(Role::card), QRect(0, 0, 3, image.height())), 3 * image.height());
  QCOMPARE(count_color(image, theme_.color(Role::card), QRect(image.width() - 3, 0, 3, image.height())),
           3 * image.height());
  const double before = plots.at(0, 0, 0).x();
  plots.clear_curves();
  plots.add_curve(0, points({0, 10}, {0, 1}), named("a"));
  plots.settle();
  QCOMPARE(plots.at(0, 0, 0).x(), before); // nothing jumps sideways
}

void TestPlotPictures::colors_follow_the_theme() {
  Plots plots(theme_);
  plots.add_curve(0, slope(10), named("a"));
  plots.put_up();
  QCOMPARE(plots.grab().toImage().pixelColor(1, 1), theme_.color(Role::card));
  const QColor light = theme_.series(0);
  theme_.set_mode(Theme::Mode::dark);
  QVERIFY(theme_.series(0) != light);
  plots.settle();
  const QImage image = plots.grab().toImage();
  QCOMPARE(image.pixelColor(1, 1), theme_.color(Role::card));
  QVERIFY(count_color(image, theme_.series(0)) > 100);
  QCOMPARE(count_color(image, light), 0);
  QCOMPARE(plots.readings().front().color, theme_.series(0));
}

void TestPlotPictures::limits_bands_and_arrows_are_drawn() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("", 3));
  plots.put_up();
  const QImage before = plots.to_image(1);
  plots.set_limits({{0, 60, QStringLiteral("limit 60")}});
  plots.settle();
  const QImage limit = plots.to_image(1);
  QVERIFY(count_color(limit, theme_.color(Role::error), QRect(0, plots.at(0, 60).y() - 2, 800, 5)) > 300);
  plots.set_limits({});
  plots.set_bands({{0, {0, 100}, {10, 10}, {40, 40}, 0}});
  plots.settle();
  const QImage band = plots.to_image(1);
  const QPoint within = plots.at(87, 33);
  QVERIFY(band.pixelColor(within) != before.pixelColor(within));
  QCOMPARE(band.pixelColor(plots.at(87, 47)), before.pixelColor(plots.at(87, 47)));
  plots.set_bands({});
  plots.set_arrows({{0, 90, 20, 20, 80}});
  plots.settle();
  QVERIFY(count_color(plots.to_image(1), theme_.color(Role::dimmed)) >
          count_color(before, theme_.color(Role::dimmed)) + 100);
}

void TestPlotPictures::the_label_of_a_limit_leaves_marks_free() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("", 3));
  plots.set_limits({{0, 60, QStringLiteral("limit 60")}});
  plots.put_up();
  const QColor red = theme_.color(Role::error);
  const int line = plots.at(0, 60).y();
  const auto written = [&](int left, int top) { return count_color(plots.to_image(1), red, QRect(left, top, 60, 12)); };
  const int left = plots.at(0, 0).x() + 4;
  const int right = plots.at(99, 0).x() - 66;
  const auto mark = [](qint64 id, double y) {
    PlotMark mark;
    mark.id = id;
    mark.kind = PlotMark::Kind::fits;
    mark.x = 97;
    mark.y = y;
    mark.panel = 0;
    return mark;
  };
  QVERIFY(written(right, line - 15) > 10);
  plots.set_marks({mark(1, 62)});
  plots.settle();
  QCOMPARE(written(right, line - 15), 0);
  QVERIFY(written(right, line + 4) > 10);
  plots.set_marks({mark(1, 62), mark(2, 58)});
  plots.settle();
  QCOMPARE(written(right, line - 15), 0);
  QCOMPARE(written(right, line + 4), 0);
  QVERIFY(written(left, line - 15) > 10);
}

BATCHSCOPE_TEST(TestPlotPictures)
#include "tst_plot_pictures.moc"
