#include <QAction>
#include <QHash>
#include <QHelpEvent>
#include <QMenu>
#include <QToolTip>

#include <numeric>

#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Pointer and keys upon the view: zooming, moving, crosshair, cursors.
class TestPlotInput : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void the_wheel_zooms_at_the_pointer();
  void the_wheel_with_control_zooms_y();
  void a_wheel_to_the_side_moves();
  void dragging_moves();
  void dragging_with_shift_zooms_into_the_range();
  void a_double_click_shows_all();
  void keys_move_and_zoom();
  void the_crosshair_follows_the_pointer();
  void keys_move_the_crosshair();
  void cursors_by_keys_and_pointer();
  void between_the_cursors();
  void tooltips_name_the_curve();
  void the_menu_offers_what_can_be_done();
  void an_entry_of_the_legend_toggles_its_curve();
  void a_shared_legend_has_each_name_once_for_all_plots();
  void the_focus_is_shown();
  void words_for_those_who_listen();

private:
  Theme theme_;
};

void TestPlotInput::the_wheel_zooms_at_the_pointer() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(1000), named("a"));
  plots.add_curve(1, slope(1000), named("b"));
  plots.set_x_values(XValues::real);
  plots.put_up();
  QSignalSpy followings(&plots, &LinkedPlots::following_changed);
  for (const int panel : {0, 1}) {
    plots.show_all();
    plots.settle();
    const QPoint pointer = plots.at(300, 200, panel);
    plots.wheel(pointer, 1);
    const auto [from, to] = plots.visible_range();
    QVERIFY(std::abs((to - from) - 800) < 1e-6);
    plots.wheel(pointer, 3);
    QVERIFY(std::abs(plots.at(300, plots.visible_range().first, panel).x() - pointer.x()) <= 1);
    QVERIFY(!plots.following());
    plots.wheel(pointer, -8);
    QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0));
    QVERIFY(plots.following());
  }
  QVERIFY(followings.count() >= 4);
}

void TestPlotInput::the_wheel_with_control_zooms_y() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("a"));
  plots.add_curve(1, slope(100), named("b"));
  plots.put_up();
  const QPoint pointer = plots.at(50, 50);
  const QPoint other = plots.at(50, 90, 1);
  plots.wheel(pointer, 2, Qt::ControlModifier);
  QCOMPARE(plots.visible_range(), std::pair(0.0, 100.0));
  QVERIFY(std::abs(plots.at(50, 50).y() - pointer.y()) <= 1);
  QVERIFY(!plots.position(0, 50, 95));
  QCOMPARE(plots.at(50, 90, 1), other);
  plots.wheel(pointer, 1); // into x, too, so that there is room to move
  const QPoint before = plots.at(50, 50);
  plots.drag(before, before + QPoint(0, 20));
  QVERIFY(std::abs(plots.at(50, 50).y() - before.y() - 20) <= 1);
  plots.key(Qt::Key_Home);
  QVERIFY(plots.position(0, 50, 95));
}

void TestPlotInput::a_wheel_to_the_side_moves() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  plots.show_range(400, 500);
  plots.settle();
  const QPoint at(400, 200);
  QWheelEvent event(at, plots.mapToGlobal(at), {}, QPoint(-240, 0), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(&plots, &event);
  QCOMPARE(plots.visible_range(), std::pair(420.0, 520.0));
}

void TestPlotInput::dragging_moves() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  plots.drag({400, 200}, {300, 200}); // nothing more to see
  QVERIFY(plots.following());
  plots.show_range(400, 600);
  plots.settle();
  const QPoint from = plots.at(500, 450), to = plots.at(450, 450);
  plots.drag(from, to);
  QVERIFY(std::abs(plots.at(500, 500).x() - to.x()) <= 1);
  QVERIFY(std::abs(plots.visible_range().first - 450) < 1);
  plots.drag(from, from + QPoint(2, 1)); // too little to be meant
  QVERIFY(std::abs(plots.visible_range().first - 450) < 1);
  for (int i = 0; i < 5; ++i)
    plots.drag({150, 200}, {750, 200});
  QCOMPARE(plots.visible_range().first, 0.0);
  QVERIFY(!plots.following());
  plots.key(Qt::Key_End);
  QVERIFY(plots.following());
  QCOMPARE(plots.visible_range().second, 1000.0);
  QVERIFY(std::abs(plots.visible_range().first - 800) < 1e-6);
}

void TestPlotInput::dragging_with_shift_zooms_into_the_range() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  const QPoint from = plots.at(700, 300), to = plots.at(200, 300);
  plots.drag(from, to, Qt::ShiftModifier);
  QVERIFY(std::abs(plots.visible_range().first - 200) < 2);
  QVERIFY(std::abs(plots.visible_range().second - 700) < 2);
  const auto range = plots.visible_range();
  plots.drag({300, 200}, {302, 200}, Qt::ShiftModifier); // a click
  QCOMPARE(plots.visible_range(), range);
  QTest::mousePress(&plots, Qt::LeftButton, Qt::ShiftModifier, {300, 200});
  plots.move({500, 200}, Qt::LeftButton, Qt::ShiftModifier);
  plots.key(Qt::Key_Escape);
  QTest::mouseRelease(&plots, Qt::LeftButton, Qt::ShiftModifier, {500, 200});
  QCOMPARE(plots.visible_range(), range);
}

void TestPlotInput::a_double_click_shows_all() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  plots.show_range(10, 20);
  plots.settle();
  QTest::mouseDClick(&plots, Qt::LeftButton, Qt::NoModifier, {400, 200});
  QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0));
}

void TestPlotInput::keys_move_and_zoom() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  plots.show_range(400, 600);
  plots.key(Qt::Key_Right);
  QCOMPARE(plots.visible_range(), std::pair(420.0, 620.0));
  plots.key(Qt::Key_Left);
  plots.key(Qt::Key_Left);
  QCOMPARE(plots.visible_range(), std::pair(380.0, 580.0));
  plots.key(Qt::Key_Plus);
  QCOMPARE(plots.visible_range(), std::pair(400.0, 560.0)); // around the middle
  plots.set_crosshair(400);
  plots.key(Qt::Key_Minus);
  QCOMPARE(plots.visible_range(), std::pair(400.0, 600.0)); // around the crosshair
  plots.key(Qt::Key_F);
  QCOMPARE(plots.visible_range(), std::pair(800.0, 1000.0));
  plots.key(Qt::Key_Home);
  QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0));
}

void TestPlotInput::the_crosshair_follows_the_pointer() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  std::vector<std::optional<double>> seen;
  connect(&plots, &LinkedPlots::crosshair_moved, this, [&](std::optional<double> x) { seen.push_back(x); });
  const std::size_t draws = plots.refresh_times().size();
  const QPoint pointer = plots.at(250, 100);
  plots.move(pointer);
  QCOMPARE(seen.size(), std::size_t(1));
  QVERIFY(std::abs(*seen[0] - 250) <= 1);
  QCOMPARE(*seen[0], std::round(*seen[0])); // steps are whole
  QCOMPARE(plots.crosshair(), seen[0]);
  QCOMPARE(*plots.readings().front().value, *seen[0]);
  const QImage image = plots.grab().toImage();
  for (const int row : {plots.at(250, 900).y(), image.height() - 100}) // through both panels
    QVERIFY(count_color(image, theme_.color(Role::dimmed), QRect(pointer.x() - 2, row, 5, 5)) >= 5);
  plots.move(pointer + QPoint(50, 0));
  QCOMPARE(seen.size(), std::size_t(2));
  QCOMPARE(plots.refresh_times().size(), draws); // the curves were not drawn again
  plots.set_crosshair(100);                      // from elsewhere: those know already
  QCOMPARE(seen.size(), std::size_t(2));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(&plots, &leave);
  QCOMPARE(seen.size(), std::size_t(3));
  QVERIFY(!seen[2]);
  QVERIFY(!plots.crosshair());
  QVERIFY(!plots.readings().front().value);
  plots.set_x_values(XValues::real);
  plots.settle();
  plots.move(pointer + QPoint(1, 0));
  QVERIFY(*plots.crosshair() != std::round(*plots.crosshair()));
}

void TestPlotInput::keys_move_the_crosshair() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  plots.set_crosshair(500);
  plots.key(Qt::Key_Right, Qt::ControlModifier);
  QVERIFY(*plots.crosshair() > 500 && *plots.crosshair() < 505);
  plots.show_range(490, 510);
  plots.set_crosshair(500);
  plots.settle();
  plots.key(Qt::Key_Left, Qt::ControlModifier); // a whole step, though that is many pixels
  QCOMPARE(*plots.crosshair(), 499.0);
  plots.key(Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
  QCOMPARE(*plots.crosshair(), 509.0);
  plots.key(Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
  QCOMPARE(*plots.crosshair(), 510.0); // stays in view
  QCOMPARE(plots.visible_range(), std::pair(490.0, 510.0));
}

void TestPlotInput::cursors_by_keys_and_pointer() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.put_up();
  QSignalSpy changes(&plots, &LinkedPlots::cursors_changed);
  plots.key(Qt::Key_C); // without a crosshair there is no place
  QCOMPARE(changes.count(), 0);
  plots.move(plots.at(200, 500));
  plots.key(Qt::Key_C);
  QCOMPARE(changes.count(), 1);
  QVERIFY(!plots.readings().front().between);
  plots.move(plots.at(600, 500));
  plots.key(Qt::Key_C);
  QCOMPARE(changes.count(), 2);
  const auto [first, second] = plots.cursors();
  QVERIFY(std::abs(*first - 200) <= 1 && std::abs(*second - 600) <= 1);
  const auto between = plots.readings().front().between;
  QCOMPARE(between->min, *first);
  QCOMPARE(between->max, *second);

  // A cursor can be taken by the pointer; the view stays.
  const QPoint line = plots.at(*second, 100);
  plots.move(line);
  QCOMPARE(plots.cursor().shape(), Qt::SizeHorCursor);
  plots.drag(line, plots.at(800, 100));
  QVERIFY(std::abs(*plots.cursors().second - 800) <= 1);
  QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0));

  plots.move(plots.at(300, 500));
  plots.key(Qt::Key_C); // begins anew
  QVERIFY(plots.cursors().first && !plots.cursors().second);
  plots.key(Qt::Key_Escape);
  QVERIFY(!plots.cursors().first);
}

void TestPlotInput::between_the_cursors() {
  Plots plots(theme_);
  Values y;
  for (int i = 0; i <= 1000; ++i)
    y.push_back(std::sin(i * 0.7) * i);
  plots.add_curve(0, points(counted(0, 1001), y), named("a"));
  plots.put_up();
  plots.set_cursors(800, 123); // either way round
  const auto between = plots.readings().front().between;
  const auto first = y.begin() + 123, end = y.begin() + 801;
  QCOMPARE(between->count, std::size_t(678));
  QCOMPARE(between->first, *first);
  QCOMPARE(between->last, y[800]);
  QCOMPARE(between->min, *std::min_element(first, end));
  QCOMPARE(between->max, *std::max_element(first, end));
  QVERIFY(std::abs(between->mean - std::accumulate(first, end, 0.0) / 678) < 1e-9);
}

void TestPlotInput::tooltips_name_the_curve() {
  Plots plots(theme_);
  Values y(101, 30);
  y[70] = std::nan("");
  plots.add_curve(0, points(counted(0, 101), y), named("memory"));
  plots.put_up();
  const auto tip_at = [&](const QPoint& at) {
    QToolTip::hideText(); // which takes a while
    if (!QTest::qWaitFor([] { return !QToolTip::isVisible(); }))
      return QStringLiteral("the last one stays");
    QHelpEvent event(QEvent::ToolTip, at, plots.mapToGlobal(at));
    QApplication::sendEvent(&plots, &event);
    return QToolTip::isVisible() ? QToolTip::text() : QString();
  };
  QCOMPARE(tip_at(plots.at(40, 30) + QPoint(0, 3)), QString("memory: 30\nstep 40"));
  QCOMPARE(tip_at(plots.at(40, 10)), QString());
  QPoint top(plots.at(70, 30).x(), 0);
  QString said;
  for (; top.y() < 60 && said.isEmpty(); ++top.ry())
    said = tip_at(top);
  QCOMPARE(said, QString("memory is NaN\nstep 70"));
  plots.set_marks({{.id = 1, .kind = PlotMark::Kind::oom, .x = 20, .panel = 0, .y = 15, .label = "asked for 5 MB"}});
  plots.settle();
  QCOMPARE(tip_at(plots.at(20, 15)), QString("Out of memory\nasked for 5 MB\nstep 20\nPanel 0: 15"));
}

void TestPlotInput::the_menu_offers_what_can_be_done() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("a"));
  plots.put_up();
  QHash<QString, QAction*> actions;
  for (QAction* action : plots.actions_for_menu())
    actions.insert(action->text(), action);
  for (const char* text : {"Copy picture", "Save as PNG…", "Save as SVG…", "Save as PDF…", "Save visible data as CSV…",
                           "Show all", "Follow the newest", "Logarithmic: Panel 0"})
    QVERIFY2(actions.contains(text), text);
  actions["Logarithmic: Panel 1"]->trigger();
  QVERIFY(plots.log(1) && !plots.log(0));
  plots.set_log(1, false);
  QVERIFY(!actions["Logarithmic: Panel 1"]->isChecked());
  plots.show_range(20, 40);
  QVERIFY(!actions["Follow the newest"]->isChecked());
  actions["Follow the newest"]->trigger();
  QVERIFY(plots.following());
  plots.settle();
  QCOMPARE(plots.visible_range(), std::pair(80.0, 100.0));
  actions["Show all"]->trigger();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 100.0));
  QContextMenuEvent event(QContextMenuEvent::Mouse, {300, 200}, plots.mapToGlobal(QPoint(300, 200)));
  QApplication::sendEvent(&plots, &event);
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  QVERIFY(menu);
  QCOMPARE(menu->actions().first(menu->actions().size() - 1), plots.actions_for_menu());
  QCOMPARE(menu->actions().last()->menu()->title(), QString("Curves"));
  menu->close();
}

void TestPlotInput::a_shared_legend_has_each_name_once_for_all_plots() {
  Plots plots(theme_, 2);
  for (const int panel : {0, 1}) {
    plots.add_curve(panel, slope(100), named("one", 0));
    plots.add_curve(panel, slope(100), named("two", 1));
  }
  plots.put_up();
  const double above_before = plots.position(0, 0, 100)->y();
  plots.set_shared_legend(true);
  plots.settle();
  QVERIFY(plots.position(0, 0, 100)->y() > above_before + 8); // it has a row of its own
  // From the left on: the first entry, and the second one, whose click hides its curves everywhere.
  const auto next_entry = [&](QPoint from) {
    do {
      from += QPoint(3, 0);
      plots.move(from);
    } while (from.x() < plots.width() && plots.cursor().shape() != Qt::PointingHandCursor);
    return from;
  };
  QPoint gap = next_entry({0, 10});
  QVERIFY(gap.x() < plots.width());
  while (plots.cursor().shape() == Qt::PointingHandCursor)
    plots.move(gap += QPoint(3, 0));
  const QPoint second = next_entry(gap);
  QVERIFY(second.x() < plots.width());
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, second);
  plots.settle();
  for (const int panel : {0, 1})
    QVERIFY(!plots.hidden(panel, "one") && plots.hidden(panel, "two"));
  plots.set_shared_legend(false);
  plots.settle();
  QCOMPARE(plots.position(0, 0, 100)->y(), above_before);
}

void TestPlotInput::an_entry_of_the_legend_toggles_its_curve() {
  const auto level = [](const char* name, int series) { // on whole pixels, and so in its very colour
    CurveStyle style = named(name, series);
    style.steps = true;
    return style;
  };
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {5, 5}), level("low", 0));
  plots.add_curve(0, points({0, 100}, {900, 900}), level("high", 2));
  CurveStyle partner = level("", 5);
  partner.with = "high";
  plots.add_curve(0, points({0, 100}, {700, 700}), partner);
  plots.put_up();
  const auto drawn = [&](int series) {
    const QRect below(0, 40, plots.width(), plots.height() - 40); // without the legend
    return count_color(plots.grab().toImage(), theme_.series(series), below) > 50;
  };
  // The last entry is at the right of the strip above the plot.
  QPoint entry(plots.width(), 14);
  do {
    entry -= QPoint(4, 0);
    plots.move(entry);
  } while (entry.x() > 0 && plots.cursor().shape() != Qt::PointingHandCursor);
  QVERIFY(entry.x() > plots.width() / 2);
  QVERIFY(drawn(0) && drawn(2) && drawn(5));
  QHelpEvent help(QEvent::ToolTip, entry, plots.mapToGlobal(entry));
  QApplication::sendEvent(&plots, &help);
  QCOMPARE(QToolTip::text(), QString("Hide high"));
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, entry);
  plots.settle();
  QVERIFY(plots.hidden(0, "high"));
  QVERIFY(drawn(0) && !drawn(2) && !drawn(5));
  QVERIFY(!plots.position(0, 50, 900)); // the axis is that of what is left
  // It stays hidden where its curve is added anew.
  plots.clear_curves();
  plots.add_curve(0, points({0, 100}, {5, 5}), level("low", 0));
  plots.add_curve(0, points({0, 100}, {900, 900}), level("high", 2));
  plots.settle();
  QVERIFY(drawn(0) && !drawn(2));
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, entry);
  plots.settle();
  QVERIFY(!plots.hidden(0, "high"));
  QVERIFY(drawn(0) && drawn(2));
  // Control takes all plots.
  const int second = plots.add_panel({.key = "second", .title = "Second"});
  plots.add_curve(second, points({0, 100}, {1, 2}), level("high", 3));
  plots.settle();
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::ControlModifier, entry);
  QVERIFY(plots.hidden(0, "high") && plots.hidden(second, "high"));
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::ControlModifier, entry);
  QVERIFY(!plots.hidden(0, "high") && !plots.hidden(second, "high"));
  plots.set_panel_visible(second, false);
  plots.settle();
  // Without a mouse there is the menu.
  QContextMenuEvent menu(QContextMenuEvent::Keyboard, QPoint(100, 100), plots.mapToGlobal(QPoint(100, 100)));
  QApplication::sendEvent(&plots, &menu);
  QAction* of_low = nullptr;
  for (QAction* action : plots.findChild<QMenu*>()->findChild<QMenu*>()->actions())
    if (action->text() == "Panel 0: low")
      of_low = action;
  QVERIFY(of_low && of_low->isChecked());
  of_low->trigger();
  plots.findChild<QMenu*>()->close();
  plots.settle();
  QVERIFY(plots.hidden(0, "low"));
  QVERIFY(!drawn(0) && drawn(2));
}

void TestPlotInput::the_focus_is_shown() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("a"));
  plots.put_up();
  plots.setFocus(Qt::MouseFocusReason);
  const QColor accent = theme_.color(Role::accent);
  const QRect border(0, 100, 4, 200);
  QCOMPARE(count_color(plots.grab().toImage(), accent, border), 0);
  plots.key(Qt::Key_Plus); // who uses the keys wants to see where they go
  QVERIFY(count_color(plots.grab().toImage(), accent, border) >= 200);
  plots.clearFocus();
  QCOMPARE(count_color(plots.grab().toImage(), accent, border), 0);
  plots.setFocus(Qt::TabFocusReason);
  QVERIFY(count_color(plots.grab().toImage(), accent, border) >= 200);
}

void TestPlotInput::words_for_those_who_listen() {
  Plots plots(theme_, 2);
  QCOMPARE(plots.accessibleName(), QString("Plots: Panel 0, Panel 1"));
  QVERIFY(plots.accessibleDescription().contains("Home"));
  QCOMPARE(plots.focusPolicy(), Qt::StrongFocus);
}

BATCHSCOPE_TEST(TestPlotInput)
#include "tst_plot_input.moc"
