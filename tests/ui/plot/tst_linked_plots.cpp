#include <QElapsedTimer>
#include <QToolButton>

#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What is in view, and when it is drawn.
class TestLinkedPlots : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }
  void init() { theme_.set_mode(Theme::Mode::light); }

  void all_is_shown_and_followed();
  void what_the_plan_reaches_and_the_future();
  void the_view_tells_of_itself();
  void a_logarithmic_x_axis();
  void single_smaller_values_of_a_staircase_are_thin();
  void y_serves_what_is_visible();
  void y_leaves_out_what_is_clipped();
  void y_may_be_logarithmic();
  void hidden_plots_do_not_draw();
  void refreshes_come_together_and_keep_their_pace();
  void nothing_new_draws_nothing();
  void panels_come_and_go();
  void curves_come_and_go();

private:
  Theme theme_;
};

void TestLinkedPlots::all_is_shown_and_followed() {
  Plots plots(theme_);
  const auto history = std::make_shared<series::History>();
  for (int step = 1; step <= 100; ++step)
    history->append(step_record(step));
  plots.add_curve(0, std::make_shared<HistoryCurve>(history, "loss", series::Axis::step), named("loss"));
  plots.put_up();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 100.0));
  QVERIFY(plots.following());
  for (int step = 101; step <= 200; ++step)
    history->append(step_record(step));
  plots.settle();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 200.0));

  auto* button = plots.findChild<QToolButton*>();
  QVERIFY(button && !button->isVisible());
  plots.show_range(120, 160);
  QVERIFY(!plots.following());
  plots.settle();
  QVERIFY(button->isVisible() && plots.rect().contains(button->geometry()));
  plots.set_following(true);
  plots.settle();
  QCOMPARE(plots.visible_range(), std::pair(160.0, 200.0));
  for (int step = 201; step <= 250; ++step)
    history->append(step_record(step));
  plots.settle();
  QCOMPARE(plots.visible_range(), std::pair(210.0, 250.0));
  button->click();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 250.0));
  plots.settle();
  QVERIFY(!button->isVisible());
}

void TestLinkedPlots::what_the_plan_reaches_and_the_future() {
  Plots plots(theme_);
  plots.add_curve(0, slope(400), named("so far"));
  plots.set_end(1000);
  plots.set_future(400);
  plots.put_up();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0));
  const QImage image = plots.to_image(1);
  const QColor card = theme_.color(Role::card);
  const int row = plots.at(0, 100).y(); // under the curve's end
  QCOMPARE(image.pixelColor(plots.at(370, 0).x(), row - 3), card);
  const QColor tinted = image.pixelColor(plots.at(650, 0).x(), row - 3);
  QVERIFY(tinted != card);
  QVERIFY(tinted.blue() > tinted.red());

  // Zoomed in, the newest stays in view with some of the plan.
  plots.show_range(0, 100);
  plots.set_following(true);
  plots.settle();
  const auto [from, to] = plots.visible_range();
  QCOMPARE(to - from, 100.0);
  QVERIFY(to > 400 && to <= 420);
}

void TestLinkedPlots::the_view_tells_of_itself() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("a"));
  QSignalSpy views(&plots, &LinkedPlots::view_changed);
  QSignalSpy followings(&plots, &LinkedPlots::following_changed);
  plots.put_up();
  QCOMPARE(views.count(), 1);
  QCOMPARE(views.back(), QVariantList({0.0, 100.0}));
  plots.show_range(10, 30);
  QCOMPARE(views.back(), QVariantList({10.0, 30.0}));
  QCOMPARE(followings.count(), 1);
  QCOMPARE(followings.back(), QVariantList({false}));
  plots.show_range(10, 30);
  QCOMPARE(views.count(), 2);
  plots.show_all();
  QCOMPARE(followings.back(), QVariantList({true}));
  plots.show_all();
  QCOMPARE(followings.count(), 2);
  QCOMPARE(views.count(), 3);
}

void TestLinkedPlots::a_logarithmic_x_axis() {
  Plots plots(theme_);
  plots.add_curve(0, slope(10'000), named("a")); // 0 has no place there
  plots.set_log_x(true);
  plots.set_log(0, true); // a straight line
  plots.put_up();
  QCOMPARE(plots.visible_range(), std::pair(1.0, 10'000.0));
  const double one = plots.at(1, 100).x(), ten = plots.at(10, 100).x(), thousand = plots.at(1000, 100).x();
  QVERIFY(std::abs((thousand - ten) - 2 * (ten - one)) <= 2);
  // The left half of the axis has only 100 of the 10,000 points, and shows each.
  const QImage image = plots.to_image(1);
  const QColor color = theme_.series(0);
  for (const double x : {2.0, 5.0, 30.0, 300.0, 3000.0})
    QVERIFY(count_color(image, color, QRect(plots.at(x, x) - QPoint(4, 4), QSize(9, 9))) > 0);
}

void TestLinkedPlots::single_smaller_values_of_a_staircase_are_thin() {
  Plots plots(theme_);
  Values y(21, 10.0);
  y[5] = y[12] = y[13] = 4; // one batch is smaller, then two
  CurveStyle style = named("a");
  style.steps = style.highlighted = true;
  plots.add_curve(0, points(counted(0, 21), y), style);
  plots.put_up();
  const QImage image = plots.to_image(1);
  const auto drawn = [&](double x, double height) {
    return count_color(image, theme_.series(0), QRect(plots.at(x, height) - QPoint(4, 4), QSize(9, 9)));
  };
  QVERIFY(drawn(3, 10) > 8);
  QVERIFY(drawn(5.5, 10) > 8); // goes on above
  QCOMPARE(drawn(5.5, 4), 0);
  QVERIFY(drawn(13, 4) > 8);
  const QRect place(plots.at(5.5, 4) - QPoint(4, 4), QSize(9, 9));
  QVERIFY(count_color(image, theme_.color(Role::card), place) < 81); // paler, but there
}

void TestLinkedPlots::y_serves_what_is_visible() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  QVERIFY(plots.position(0, 500, 1000));
  QVERIFY(!plots.position(0, 500, 1200));
  QVERIFY(plots.position(0, 500, 0));
  plots.show_range(0, 100);
  plots.settle();
  QVERIFY(!plots.position(0, 50, 150)); // zoomed in
  const QPoint before = plots.at(50, 60);
  plots.show_range(0, 90);
  plots.settle();
  QCOMPARE(plots.at(50, 60).y(), before.y()); // it still serves
  plots.set_limits({{0, 300, QStringLiteral("limit")}});
  plots.settle();
  QVERIFY(plots.position(0, 50, 300));

  Plots percent(theme_, 0);
  percent.add_panel({.key = "percent", .title = "Percent", .lowest_top = 100});
  percent.add_curve(0, points({0, 10}, {1, 2}), named("a"));
  percent.put_up();
  QVERIFY(percent.position(0, 5, 100));

  Plots loose(theme_, 0);
  loose.add_panel({.key = "loose", .title = "Loose", .from_zero = false});
  loose.add_curve(0, points({0, 10}, {1000, 1010}), named("a"));
  loose.put_up();
  QVERIFY(!loose.position(0, 5, 900));
  QVERIFY(loose.position(0, 5, 1005));
}

void TestLinkedPlots::y_leaves_out_what_is_clipped() {
  Values y(1000, 1);
  y[400] = 1000;
  Plots plots(theme_);
  plots.add_curve(0, points(counted(0, 1000), y), named("a"));
  plots.put_up();
  QVERIFY(plots.position(0, 100, 900));
  plots.set_clipping(0.01);
  plots.settle();
  QVERIFY(!plots.position(0, 100, 3));
  plots.set_clipping(0);
  plots.settle();
  QVERIFY(plots.position(0, 100, 900));
}

void TestLinkedPlots::y_may_be_logarithmic() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 1, 2, 3, 4}, {0, 0.1, 10, -5, 1000}), named("a"));
  plots.put_up();
  QVERIFY(!plots.log(0));
  plots.set_log(0, true);
  plots.settle();
  QVERIFY(plots.log(0));
  QVERIFY(!plots.position(0, 1, 0)); // left out, as is -5
  const double a = plots.position(0, 1, 0.1)->y(), b = plots.position(0, 1, 10)->y(),
               c = plots.position(0, 1, 1000)->y();
  QVERIFY(std::abs((a - b) - (b - c)) < 1);
  plots.set_log(0, false);
  plots.settle();
  QVERIFY(plots.position(0, 1, 0));
}

void TestLinkedPlots::hidden_plots_do_not_draw() {
  Plots plots(theme_);
  const auto curve = slope(10);
  plots.add_curve(0, curve, named("a"));
  QCoreApplication::processEvents();
  QVERIFY(plots.refresh_times().empty());
  plots.put_up();
  const std::size_t shown = plots.refresh_times().size();
  QVERIFY(shown > 0);
  plots.hide();
  curve->set({0, 1}, {5, 6});
  for (int i = 0; i < 20; ++i) {
    plots.refresh();
    QCoreApplication::processEvents();
  }
  QCOMPARE(plots.refresh_times().size(), shown);
  plots.show(); // at once, without a refresh
  QVERIFY(plots.refresh_times().size() > shown);
  QVERIFY(plots.position(0, 0.5, 6));
}

void TestLinkedPlots::refreshes_come_together_and_keep_their_pace() {
  Plots plots(theme_);
  const auto curve = slope(10);
  plots.add_curve(0, curve, named("a"));
  plots.put_up();
  const std::size_t before = plots.refresh_times().size();
  QElapsedTimer clock;
  clock.start();
  constexpr std::size_t draws = 6;
  int changes = 0;
  while (plots.refresh_times().size() < before + draws) {
    curve->set({0, 1}, {0.0, static_cast<double>(++changes)});
    plots.refresh();
    QCoreApplication::processEvents();
  }
  QVERIFY(changes > 20);
  QVERIFY(clock.elapsed() >= 33 * static_cast<int>(draws - 1));
}

void TestLinkedPlots::nothing_new_draws_nothing() {
  Plots plots(theme_);
  const auto curve = slope(10);
  plots.add_curve(0, curve, named("a"));
  plots.put_up();
  const std::size_t before = plots.refresh_times().size();
  plots.refresh_now();
  plots.refresh_now();
  QCOMPARE(plots.refresh_times().size(), before);
  curve->set({0, 10}, {1, 2});
  plots.refresh_now();
  QCOMPARE(plots.refresh_times().size(), before + 1);
  // What comes where nobody looks is not drawn either.
  const auto history = std::make_shared<series::History>();
  for (int step = 1; step <= 100; ++step)
    history->append(step_record(step));
  plots.add_curve(0, std::make_shared<HistoryCurve>(history, "loss", series::Axis::step), named("b"));
  plots.show_range(20, 40);
  plots.settle();
  const std::size_t looking_back = plots.refresh_times().size();
  history->append(step_record(101));
  plots.refresh_now();
  QCOMPARE(plots.refresh_times().size(), looking_back);
}

void TestLinkedPlots::panels_come_and_go() {
  Plots plots(theme_, 2);
  plots.add_curve(0, points({0, 10}, {0, 10}), named("a", 0));
  plots.add_curve(1, points({0, 50}, {0, 10}), named("b", 2));
  plots.put_up();
  const int height = plots.at(0, 0, 0).y() - plots.at(0, 10, 0).y();
  plots.set_panel_visible(1, false);
  plots.settle();
  QVERIFY(!plots.position(1, 5, 5));
  QVERIFY(plots.at(0, 0, 0).y() - plots.at(0, 10, 0).y() > 1.8 * height);
  QCOMPARE(plots.visible_range(), std::pair(0.0, 10.0)); // the other's x do not count
  QCOMPARE(count_color(plots.to_image(1), theme_.series(2)), 0);
  plots.set_panel_visible(1, true);
  plots.settle();
  QVERIFY(plots.position(1, 5, 5));
  QVERIFY(count_color(plots.to_image(1), theme_.series(2)) > 50);
  QVERIFY(plots.at(0, 0, 0).y() < plots.at(0, 0, 1).y());
  plots.set_panel_order({1});
  plots.settle();
  QVERIFY(plots.at(0, 0, 0).y() > plots.at(0, 0, 1).y());
  plots.set_panel_height(1, 3);
  plots.settle();
  const auto height_of = [&plots](int panel) { return plots.at(0, 0, panel).y() - plots.at(0, 10, panel).y(); };
  QVERIFY(height_of(1) > 2.5 * height_of(0));
}

void TestLinkedPlots::curves_come_and_go() {
  Plots plots(theme_);
  const int first = plots.add_curve(0, slope(10), named("a", 0));
  const int second = plots.add_curve(0, points({0, 100}, {5, 5}), named("b", 2));
  QVERIFY(first != second);
  QCOMPARE(plots.add_curve(7, slope(10), named("nowhere")), 0);
  plots.put_up();
  QCOMPARE(plots.readings().size(), 2);
  plots.set_style(first, named("c", 5));
  plots.settle();
  QVERIFY(count_color(plots.to_image(1), theme_.series(5)) > 20);
  QCOMPARE(plots.readings().front().name, QString("c"));
  plots.clear_curves();
  plots.settle();
  QVERIFY(plots.readings().isEmpty());
  QCOMPARE(count_color(plots.to_image(1), theme_.series(5)), 0);
}

BATCHSCOPE_TEST(TestLinkedPlots)
#include "tst_linked_plots.moc"
