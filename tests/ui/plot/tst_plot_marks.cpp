#include <QPushButton>
#include <QVBoxLayout>

#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Marks that can be chosen, and handles that can be moved.
class TestPlotMarks : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void a_click_chooses_a_mark();
  void a_line_through_all_panels_is_a_mark_everywhere();
  void keys_go_from_mark_to_mark();
  void marks_that_come_are_among_the_others();
  void very_many_marks_are_no_burden();
  void a_chosen_mark_comes_into_view();
  void marks_are_drawn_by_their_kind();
  void labels_do_not_lie_on_each_other();
  void a_handle_is_dragged();
  void a_handle_is_a_size();
  void whoever_plans_answers_while_it_is_dragged();
  void beyond_the_border_there_is_more();
  void escape_takes_a_drag_back();
  void keys_move_a_handle();
  void tab_goes_through_the_handles();

private:
  PlotHandle handle(qint64 id, double from, double to, double y) const {
    return {.id = id, .panel = 0, .from = from, .to = to, .y = y, .good = true, .label = "label"};
  }

  Theme theme_;
};

void TestPlotMarks::a_click_chooses_a_mark() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("a"));
  plots.set_marks({{.id = 7, .kind = PlotMark::Kind::fits, .x = 30, .panel = 0, .y = 60},
                   {.id = 8, .kind = PlotMark::Kind::oom, .x = 60, .panel = 0, .y = 20}});
  plots.put_up();
  QSignalSpy chosen(&plots, &LinkedPlots::mark_chosen);
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, plots.at(30, 60) + QPoint(4, -4));
  QCOMPARE(chosen.count(), 1);
  QCOMPARE(chosen.back(), QVariantList({qint64(7)}));
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, plots.at(60, 20));
  QCOMPARE(chosen.back(), QVariantList({qint64(8)}));
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, plots.at(45, 50) + QPoint(0, 20));
  QCOMPARE(chosen.count(), 2);
  plots.drag(plots.at(60, 20), plots.at(60, 20) + QPoint(40, 0)); // moved, not clicked
  QCOMPARE(chosen.count(), 2);
  plots.move(plots.at(60, 20));
  QCOMPARE(plots.cursor().shape(), Qt::PointingHandCursor);
}

void TestPlotMarks::a_line_through_all_panels_is_a_mark_everywhere() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("a"));
  plots.add_curve(1, slope(100), named("b"));
  plots.set_marks({{.id = 4, .kind = PlotMark::Kind::oom, .x = 50, .panel = 0, .y = 90, .through = true}});
  plots.put_up();
  QSignalSpy chosen(&plots, &LinkedPlots::mark_chosen);
  const QPoint below = plots.at(50, 20, 1);
  QVERIFY(count_color(plots.to_image(1), theme_.color(Role::error), QRect(below - QPoint(3, 10), QSize(7, 20))) > 5);
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, below + QPoint(3, 0));
  QCOMPARE(chosen.count(), 1);
  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, below + QPoint(9, 0));
  QCOMPARE(chosen.count(), 1);
}

void TestPlotMarks::keys_go_from_mark_to_mark() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("a"));
  plots.put_up();
  QSignalSpy chosen(&plots, &LinkedPlots::mark_chosen);
  plots.key(Qt::Key_M);
  QCOMPARE(chosen.count(), 0);
  // One that happened in both panels counts once; they come in the order of x.
  plots.set_marks({{.id = 3, .x = 80, .panel = 0},
                   {.id = 1, .x = 20, .panel = 0},
                   {.id = 1, .x = 20, .panel = 1},
                   {.id = 2, .x = 40, .panel = 1}});
  QList<qint64> ids;
  connect(&plots, &LinkedPlots::mark_chosen, this, [&](qint64 id) { ids += id; });
  for (int i = 0; i < 4; ++i)
    plots.key(Qt::Key_M);
  QCOMPARE(ids, QList<qint64>({1, 2, 3, 1}));
  ids.clear();
  plots.key(Qt::Key_M, Qt::ShiftModifier);
  plots.key(Qt::Key_M, Qt::ShiftModifier);
  QCOMPARE(ids, QList<qint64>({3, 2}));
}

void TestPlotMarks::marks_that_come_are_among_the_others() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("a"));
  plots.add_marks({{.id = 5, .x = 70, .panel = 0, .y = 30}, {.id = 2, .x = 20, .panel = 0, .y = 30}});
  plots.add_marks({{.id = 6, .x = 90, .panel = 0, .y = 30}});
  plots.add_marks({});
  plots.add_marks({{.id = 4, .x = 60, .panel = 0, .y = 30}, {.id = 1, .x = 10, .panel = 0, .y = 30}});
  plots.add_marks({{.id = 7, .x = 130, .panel = 0, .y = 30}});
  plots.put_up();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 130.0)); // up to the last
  QList<qint64> ids;
  connect(&plots, &LinkedPlots::mark_chosen, this, [&](qint64 id) { ids += id; });
  for (int i = 0; i < 6; ++i)
    plots.key(Qt::Key_M);
  QCOMPARE(ids, QList<qint64>({1, 2, 4, 5, 6, 7}));
  ids.clear();
  for (const double x : {10.0, 60.0, 130.0})
    QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, plots.at(x, 30));
  QCOMPARE(ids, QList<qint64>({1, 4, 7}));
}

void TestPlotMarks::very_many_marks_are_no_burden() {
  constexpr int count = 100'000;
  Plots plots(theme_);
  plots.add_curve(0, points({0, count}, {0, 10}), named("a"));
  QList<PlotMark> marks;
  for (int i = 0; i < count; ++i)
    marks += {.id = i, .kind = PlotMark::Kind::oom, .x = double(i), .panel = 0, .y = 5, .through = true};
  plots.set_marks(marks);
  plots.put_up();
  plots.to_image(1); // nearly all lie on each other
  for (int i = 0; i < 2'000; ++i)
    plots.add_marks({{.id = count + i, .x = double(count + i), .panel = 0, .y = 5}});
  plots.show_range(500, 520);
  plots.settle();
  QSignalSpy chosen(&plots, &LinkedPlots::mark_chosen);
  for (const int x : {500, 511, 520}) {
    QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, plots.at(x, 5));
    QCOMPARE(chosen.back(), QVariantList({qint64(x)}));
  }
}

void TestPlotMarks::a_chosen_mark_comes_into_view() {
  Plots plots(theme_);
  plots.add_curve(0, slope(1000), named("a"));
  plots.set_marks({{.id = 5, .kind = PlotMark::Kind::oom, .x = 900, .panel = 0, .y = 300}});
  QSignalSpy chosen(&plots, &LinkedPlots::mark_chosen);
  plots.choose_mark(5); // before anything was drawn
  plots.put_up();
  QCOMPARE(plots.visible_range(), std::pair(0.0, 1000.0)); // it is in view
  const QPoint place = plots.at(900, 300);
  const QRect around(place - QPoint(12, 12), QSize(25, 25));
  const int ring = count_color(plots.to_image(1), theme_.color(Role::accent), around);
  plots.choose_mark(std::nullopt);
  plots.settle();
  QVERIFY(ring > count_color(plots.to_image(1), theme_.color(Role::accent), around) + 20);
  plots.show_range(100, 200);
  plots.choose_mark(5);
  plots.settle();
  QCOMPARE(plots.visible_range(), std::pair(850.0, 950.0));
  QVERIFY(!plots.following());
  QCOMPARE(chosen.count(), 0); // whoever chooses knows
}

void TestPlotMarks::marks_are_drawn_by_their_kind() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 0}), named("", 4));
  const std::pair<PlotMark::Kind, QColor> kinds[] = {
      {PlotMark::Kind::oom, theme_.color(Role::error)},         {PlotMark::Kind::edit, theme_.color(Role::dimmed)},
      {PlotMark::Kind::evaluation, theme_.color(Role::dimmed)}, {PlotMark::Kind::fits, theme_.series(0)},
      {PlotMark::Kind::answer, theme_.color(Role::accent)},     {PlotMark::Kind::note, theme_.color(Role::dimmed)}};
  QList<PlotMark> marks;
  for (const auto& [kind, color] : kinds)
    marks +=
        {.id = marks.size(), .kind = kind, .x = 10.0 + 12 * static_cast<double>(marks.size()), .panel = 0, .y = 50};
  plots.set_marks(marks);
  plots.put_up();
  const QImage image = plots.to_image(1);
  for (const PlotMark& mark : marks)
    QVERIFY2(count_color(image, kinds[mark.id].second, QRect(plots.at(mark.x, 50) - QPoint(8, 8), QSize(17, 17))) >= 5,
             qPrintable(QString::number(mark.id)));
}

void TestPlotMarks::labels_do_not_lie_on_each_other() {
  Plots plots(theme_);
  plots.add_curve(0, slope(100), named("", 4));
  const PlotMark one{.id = 1, .kind = PlotMark::Kind::note, .x = 50, .panel = 0, .y = 50, .label = "wwwwwww"};
  PlotMark other = one;
  other.id = 2;
  plots.set_marks({one});
  plots.put_up();
  const QColor ink = theme_.color(Role::text);
  const int one_label = count_color(plots.to_image(1), ink);
  plots.set_marks({one, other});
  plots.settle();
  const int both = count_color(plots.to_image(1), ink);
  plots.set_marks({});
  plots.settle();
  const int none = count_color(plots.to_image(1), ink); // the title
  QVERIFY(both - none > 1.8 * (one_label - none));
}

void TestPlotMarks::a_handle_is_dragged() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 400}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 100), handle(2, 40, 60, 200)});
  plots.put_up();
  QSignalSpy dragged(&plots, &LinkedPlots::handle_dragged);
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  const auto range = plots.visible_range();
  const QPoint square = plots.at(50, 200);
  plots.move(square);
  QCOMPARE(plots.cursor().shape(), Qt::SizeVerCursor);
  plots.move(plots.at(56, 200) + QPoint(0, 3)); // the stretch takes hold, too
  QCOMPARE(plots.cursor().shape(), Qt::SizeVerCursor);
  plots.move(square - QPoint(0, 40));
  QVERIFY(plots.cursor().shape() != Qt::SizeVerCursor);

  QTest::mouseClick(&plots, Qt::LeftButton, Qt::NoModifier, square); // moves nothing
  QCOMPARE(dragged.count(), 0);
  QCOMPARE(dropped.count(), 0);
  const QPoint target(square.x() + 30, plots.at(50, 300).y()); // sideways does not count
  plots.drag(square, target);
  QVERIFY(dragged.count() >= 3);
  QCOMPARE(dropped.count(), 1);
  QCOMPARE(dropped.back()[0].toLongLong(), qint64(2));
  const double value = dropped.back()[1].toDouble();
  QCOMPARE(value, std::round(value));
  QVERIFY(std::abs(value - 300) <= 2);
  QCOMPARE(dragged.back(), dropped.back());
  QCOMPARE(plots.visible_range(), range);
}

void TestPlotMarks::a_handle_is_a_size() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 10}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 5)});
  plots.put_up();
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  plots.drag(plots.at(30, 5), plots.at(30, 0) + QPoint(0, 60));
  QCOMPARE(dropped.back()[1].toDouble(), 1.0); // no batch is smaller
}

void TestPlotMarks::whoever_plans_answers_while_it_is_dragged() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 400}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 100)});
  plots.put_up();
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  // A plan that comes late does not pull the handle back.
  connect(&plots, &LinkedPlots::handle_dragged, &plots, [&] {
    PlotHandle late = handle(1, 20, 40, 100);
    late.good = false;
    plots.set_handles(0, {late, handle(2, 40, 60, 350)});
  });
  const int row = plots.at(30, 300).y();
  plots.drag(plots.at(30, 100), {plots.at(30, 100).x(), row});
  QCOMPARE(dropped.count(), 1);
  QVERIFY(std::abs(dropped.back()[1].toDouble() - 300) <= 2);
  const QRect there(plots.at(22, 300) - QPoint(0, 6), QSize(60, 13));
  QVERIFY(count_color(plots.grab().toImage(), theme_.color(Role::error), there) > 20); // it will not fit
}

void TestPlotMarks::beyond_the_border_there_is_more() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 100}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 80)});
  plots.put_up();
  const QPoint square = plots.at(30, 80);
  const int ninety = plots.at(30, 90).y();
  QSignalSpy dragged(&plots, &LinkedPlots::handle_dragged);
  QTest::mousePress(&plots, Qt::LeftButton, {}, square);
  plots.move(plots.at(30, 99), Qt::LeftButton);
  plots.settle();
  QCOMPARE(plots.at(30, 90).y(), ninety); // the axis holds still
  double last = 0;
  for (int i = 0; i < 6; ++i) {
    plots.move({square.x() + i % 2, 2}, Qt::LeftButton);
    plots.settle();
    QVERIFY(dragged.back()[1].toDouble() > last);
    last = dragged.back()[1].toDouble();
  }
  QVERIFY(last > 110);
  QVERIFY(plots.at(30, 90).y() > ninety);
  QTest::mouseRelease(&plots, Qt::LeftButton, {}, {square.x(), 2});
}

void TestPlotMarks::escape_takes_a_drag_back() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 400}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 100)});
  plots.put_up();
  QSignalSpy dragged(&plots, &LinkedPlots::handle_dragged);
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  const QPoint square = plots.at(30, 100);
  QTest::mousePress(&plots, Qt::LeftButton, {}, square);
  plots.move(square - QPoint(0, 60), Qt::LeftButton);
  QVERIFY(dragged.back()[1].toDouble() > 120);
  plots.key(Qt::Key_Escape);
  QCOMPARE(dragged.back()[1].toDouble(), 100.0);
  QTest::mouseRelease(&plots, Qt::LeftButton, {}, square - QPoint(0, 60));
  QCOMPARE(dropped.count(), 0);
}

void TestPlotMarks::keys_move_a_handle() {
  Plots plots(theme_);
  plots.add_curve(0, points({0, 100}, {0, 400}), named("a"));
  plots.set_handles(0, {handle(1, 20, 40, 5)});
  plots.put_up();
  QSignalSpy dragged(&plots, &LinkedPlots::handle_dragged);
  QSignalSpy dropped(&plots, &LinkedPlots::handle_dropped);
  plots.key(Qt::Key_Up); // no handle has the focus yet
  QCOMPARE(dropped.count(), 0);
  plots.key(Qt::Key_Tab);
  plots.key(Qt::Key_Up);
  QCOMPARE(dropped.back(), QVariantList({qint64(1), 6.0}));
  QCOMPARE(dragged.count(), 1);
  plots.key(Qt::Key_PageUp);
  QCOMPARE(dropped.back(), QVariantList({qint64(1), 16.0}));
  plots.key(Qt::Key_PageDown);
  plots.key(Qt::Key_PageDown);
  QCOMPARE(dropped.back(), QVariantList({qint64(1), 1.0}));
  const qsizetype before = dropped.count();
  plots.key(Qt::Key_Down); // there is nothing below one
  QCOMPARE(dropped.count(), before);
}

void TestPlotMarks::tab_goes_through_the_handles() {
  QWidget window;
  auto* layout = new QVBoxLayout(&window);
  auto* first = new QPushButton("first", &window);
  auto* plots = new Plots(theme_);
  auto* last = new QPushButton("last", &window);
  for (QWidget* widget : {static_cast<QWidget*>(first), static_cast<QWidget*>(plots), static_cast<QWidget*>(last)})
    layout->addWidget(widget);
  QWidget::setTabOrder(first, plots);
  QWidget::setTabOrder(plots, last);
  plots->add_curve(0, slope(100), named("a"));
  plots->set_handles(0, {handle(1, 20, 40, 10), handle(2, 40, 60, 20)});
  window.resize(800, 600);
  window.show();
  QApplication::setActiveWindow(&window);
  QVERIFY(QTest::qWaitForWindowActive(&window));
  QSignalSpy dropped(plots, &LinkedPlots::handle_dropped);
  first->setFocus();
  const auto press = [](Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
  };
  press(Qt::Key_Tab);
  QVERIFY(plots->hasFocus());
  press(Qt::Key_Tab);
  press(Qt::Key_Up);
  QCOMPARE(dropped.back(), QVariantList({qint64(1), 11.0}));
  press(Qt::Key_Tab);
  press(Qt::Key_Up);
  QCOMPARE(dropped.back(), QVariantList({qint64(2), 21.0}));
  press(Qt::Key_Tab, Qt::ShiftModifier);
  press(Qt::Key_Up);
  QCOMPARE(dropped.back(), QVariantList({qint64(1), 12.0}));
  press(Qt::Key_Tab);
  press(Qt::Key_Tab);
  QVERIFY(last->hasFocus());
  press(Qt::Key_Backtab, Qt::ShiftModifier);
  QVERIFY(plots->hasFocus()); // at its last handle
  press(Qt::Key_Up);
  QCOMPARE(dropped.back(), QVariantList({qint64(2), 22.0}));
  press(Qt::Key_Tab, Qt::ShiftModifier);
  press(Qt::Key_Tab, Qt::ShiftModifier);
  QVERIFY(first->hasFocus());
}

BATCHSCOPE_TEST(TestPlotMarks)
#include "tst_plot_marks.moc"
