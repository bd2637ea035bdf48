#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

QByteArray content_of(const QString& file) {
  QFile input(file);
  return input.open(QIODevice::ReadOnly) ? input.readAll() : QByteArray();
}

/// The file that the plots make in the background; empty where there is none.
QByteArray saved(LinkedPlots& plots, LinkedPlots::FileKind kind) {
  constexpr int patience_ms = 30'000;
  const QTemporaryDir folder;
  QSignalSpy saved(&plots, &LinkedPlots::saved);
  plots.save(kind, folder.filePath("plot"));
  return saved.wait(patience_ms) ? content_of(folder.filePath("plot")) : QByteArray();
}

QString table_of(LinkedPlots& plots) {
  return QString::fromUtf8(saved(plots, LinkedPlots::FileKind::csv));
}

} // namespace

/// Pictures and tables of what is shown.
class TestPlotFiles : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void a_table_of_what_is_visible();
  void a_table_names_the_units();
  void a_table_of_very_many_points();
  void pictures_data();
  void pictures();
  void pictures_are_of_any_scale();
  void pictures_of_what_was_never_shown();
  void pictures_are_without_the_pointer();
  void pictures_say_what_they_are_of();
  void drawings_stay_within_their_panels();
  void the_clipboard();
  void files_that_cannot_be_written();
  void a_file_is_of_the_moment_when_it_was_asked_for();
  void the_menu_asks_where_to();

private:
  Theme theme_;
};

void TestPlotFiles::a_table_of_what_is_visible() {
  Plots plots(theme_, 3);
  plots.add_curve(0, points({1, 2, 3, 4}, {0.1, not_a_number, infinity, 4}), named("loss, raw"));
  plots.add_curve(1, points({2, 2.5, 3, 9}, {1e-7, 1'234'567, 1.0 / 3, 5}), named("b"));
  plots.add_curve(1, points({1, 2}, {7, 7}), named("")); // has no name to go by
  plots.add_curve(2, points({1, 2}, {8, 8}), named("hidden"));
  plots.set_panel_visible(2, false);
  plots.put_up();
  QCOMPARE(table_of(plots), QString("step,\"panel0.loss, raw\",panel1.b\n"
                                    "1,0.1,\n"
                                    "2,nan,1e-07\n"
                                    "2.5,,1234567\n"
                                    "3,inf,0.3333333333333333\n"
                                    "4,4,\n"
                                    "9,,5\n"));
  plots.show_range(2, 3);
  QCOMPARE(table_of(plots).count(QLatin1Char('\n')), 4);
}

void TestPlotFiles::a_table_names_the_units() {
  Plots plots(theme_, 0);
  plots.add_panel({.key = "memory", .title = "Memory", .unit = "MB"});
  plots.add_panel({.key = "loss", .title = "Loss"});
  plots.add_curve(0, points({1}, {2}), named("peak"));
  plots.add_curve(0, points({1}, {3}), named("in use"));
  plots.add_curve(1, points({1}, {4}), named("training"));
  plots.put_up();
  QCOMPARE(table_of(plots), QString("step,memory.peak (MB),memory.in use (MB),loss.training\n1,2,3,4\n"));
  plots.set_hidden(0, "in use", true); // it is not visible
  QCOMPARE(table_of(plots), QString("step,memory.peak (MB),loss.training\n1,2,4\n"));
}

void TestPlotFiles::a_table_of_very_many_points() {
  constexpr int count = 300'000;
  Values y(count, 1);
  y[123'456] = 77;
  Plots plots(theme_);
  plots.add_curve(0, points(counted(0, count), y), named("a"));
  plots.put_up();
  const QString text = table_of(plots);
  QVERIFY(text.contains("\n123456,77\n"));
  const auto rows = text.count(QLatin1Char('\n'));
  QVERIFY(rows > 20'000 && rows < 130'000);
  plots.show_range(100'000, 150'000);
  QCOMPARE(table_of(plots).count(QLatin1Char('\n')), 50'002); // each of them, and the heading
}

void TestPlotFiles::pictures_data() {
  QTest::addColumn<QString>("ending");
  QTest::addColumn<LinkedPlots::FileKind>("kind");
  QTest::addColumn<QByteArray>("begin");
  QTest::newRow("png") << "png" << LinkedPlots::FileKind::png << QByteArray("\x89PNG");
  QTest::newRow("svg") << "svg" << LinkedPlots::FileKind::svg << QByteArray("<?xml");
  QTest::newRow("pdf") << "pdf" << LinkedPlots::FileKind::pdf << QByteArray("%PDF");
}

void TestPlotFiles::pictures() {
  QFETCH(QString, ending);
  QFETCH(LinkedPlots::FileKind, kind);
  QFETCH(QByteArray, begin);
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(50), named("some curve"));
  plots.put_up();
  const QByteArray content = saved(plots, kind);
  QVERIFY(content.startsWith(begin));
  if (ending == "png") {
    const QImage image = QImage::fromData(content);
    QCOMPARE(image.size(), QSize(1600, 1000));
    QVERIFY(count_color(image, theme_.series(0)) > 500);
  } else if (ending == "svg") {
    for (const char* text : {"Panel 0", "Panel 1", "some curve", "step", "<polyline"})
      QVERIFY2(content.contains(text), text);
    QVERIFY(!content.contains("<image")); // lines, not pixels
    QVERIFY(content.contains(theme_.series(0).name().toUtf8()));
  } else {
    QVERIFY(content.contains("/MediaBox [0 0 600"));
    QVERIFY(content.contains("%%EOF"));
  }
}

void TestPlotFiles::pictures_are_of_any_scale() {
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  QCOMPARE(plots.to_image(1).size(), QSize(800, 500));
  QCOMPARE(plots.to_image(2).size(), QSize(1600, 1000));
  const QImage large = plots.to_image(3);
  QCOMPARE(large.size(), QSize(2400, 1500));
  const QPoint middle = plots.at(25, 25) * 3;
  QVERIFY(count_color(large, theme_.series(0), QRect(middle - QPoint(9, 9), QSize(19, 19))) > 20);
}

void TestPlotFiles::pictures_of_what_was_never_shown() {
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  QVERIFY(count_color(plots.to_image(1), theme_.series(0)) > 200);
  plots.add_curve(0, points({0, 50}, {40, 10}), named("b", 2));
  QVERIFY(count_color(plots.to_image(1), theme_.series(2)) > 200); // up to date, without a refresh
  plots.put_up();
  QVERIFY(count_color(plots.grab().toImage(), theme_.series(2)) > 200);
}

void TestPlotFiles::pictures_are_without_the_pointer() {
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  const QImage before = plots.to_image(1);
  plots.set_handles(0, {{.id = 1, .panel = 0, .from = 10, .to = 20, .y = 30}});
  plots.set_crosshair(25);
  plots.setFocus(Qt::TabFocusReason);
  plots.settle();
  QVERIFY(plots.grab().toImage() != before);
  QCOMPARE(plots.to_image(1), before);
  plots.set_cursors(10, 20); // those were put there to be seen
  QVERIFY(plots.to_image(1) != before);
}

void TestPlotFiles::pictures_say_what_they_are_of() {
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  const QImage bare = plots.to_image(2);
  plots.set_caption("Run 12: a name");
  const QImage image = plots.to_image(2);
  QCOMPARE(image.width(), bare.width());
  const int above = image.height() - bare.height();
  QVERIFY(above > 20 && above < 100);
  QCOMPARE(image.copy(0, above, bare.width(), bare.height()), bare);
  QVERIFY(count_color(image, theme_.color(Role::text), QRect(0, 0, image.width(), above)) > 50);
  const QByteArray drawing = saved(plots, LinkedPlots::FileKind::svg);
  QVERIFY(drawing.contains("Run 12: a name"));
  QVERIFY(drawing.contains(QString("viewBox=\"0 0 800 %1\"").arg(500 + above / 2).toUtf8()));
}

/// Numbers of all `points` in a drawing, two by two.
QList<QPointF> points_in(const QByteArray& drawing) {
  static const QRegularExpression list("points=\"([^\"]*)\"");
  QList<QPointF> points;
  for (auto matches = list.globalMatch(QString::fromUtf8(drawing)); matches.hasNext();) {
    const QStringList numbers = matches.next().captured(1).split(QRegularExpression("[ ,]"), Qt::SkipEmptyParts);
    for (qsizetype i = 0; i + 1 < numbers.size(); i += 2)
      points += QPointF(numbers[i].toDouble(), numbers[i + 1].toDouble());
  }
  return points;
}

void TestPlotFiles::drawings_stay_within_their_panels() {
  Plots plots(theme_);
  Values wild;
  for (int i = 0; i <= 100; ++i)
    wild.push_back(i % 2 == 0 ? 10 : 1000);
  plots.add_curve(0, points(counted(0, 101), wild), named("a"));
  plots.set_bands({{.panel = 0, .x = {0, 100}, .low = {-500, -500}, .high = {5000, 5000}, .series = 2}});
  plots.set_arrows({{.panel = 0, .x0 = 50, .y0 = 20, .x1 = 50, .y1 = 4000}});
  plots.put_up();
  plots.wheel(plots.at(50, 10), 12, Qt::ControlModifier); // y, around the lower values
  const auto low = plots.position(0, plots.visible_range().first, 10);
  QVERIFY(low && !plots.position(0, plots.visible_range().first, 1000));
  const QByteArray drawing = saved(plots, LinkedPlots::FileKind::svg);
  const auto drawn = points_in(drawing);
  QVERIFY(drawn.size() > 100);
  for (const QPointF& point : drawn)
    QVERIFY2(point.x() >= -1 && point.x() <= 801 && point.y() >= -1 && point.y() <= 501,
             qPrintable(QString("%1, %2").arg(point.x()).arg(point.y())));
}

void TestPlotFiles::the_clipboard() {
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  plots.copy();
  QCOMPARE(QApplication::clipboard()->image().size(), QSize(1600, 1000));
}

void TestPlotFiles::files_that_cannot_be_written() {
  using Kind = LinkedPlots::FileKind;
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  const QString file = "/no/such/folder/plot.png";
  QSignalSpy problems(&plots, &LinkedPlots::problem);
  QSignalSpy saved(&plots, &LinkedPlots::saved);
  for (const Kind kind : {Kind::png, Kind::svg, Kind::pdf, Kind::csv})
    plots.save(kind, file);
  QTRY_COMPARE(problems.count(), 4);
  for (const auto& problem : problems)
    QVERIFY2(problem[0].toString().startsWith(file + " could not be written: "), qPrintable(problem[0].toString()));
  QCOMPARE(saved.count(), 0);
}

void TestPlotFiles::a_file_is_of_the_moment_when_it_was_asked_for() {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.csv");
  {
    Plots plots(theme_);
    const auto curve = points({1, 2}, {3, 4});
    plots.add_curve(0, curve, named("a"));
    plots.put_up();
    QSignalSpy saved(&plots, &LinkedPlots::saved);
    plots.save(LinkedPlots::FileKind::csv, file);
    QCOMPARE(saved.count(), 0); // made elsewhere: the window goes on meanwhile
    curve->set({1, 2}, {8, 9});
    plots.clear_curves();
  }
  // Nor does it need the plots any more.
  QTRY_COMPARE(content_of(file), QByteArray("step,panel0.a\n1,3\n2,4\n"));
}

void TestPlotFiles::the_menu_asks_where_to() {
  QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  Plots plots(theme_);
  plots.add_curve(0, slope(50), named("a"));
  plots.put_up();
  QSignalSpy problems(&plots, &LinkedPlots::problem);
  QTemporaryDir folder;
  const auto save_as = [&](const char* text, const QString& file) {
    for (QAction* action : plots.actions_for_menu())
      if (action->text() == QString::fromUtf8(text))
        action->trigger();
    auto* dialog = plots.findChild<QFileDialog*>();
    QVERIFY(dialog);
    Q_EMIT dialog->fileSelected(file);
    delete dialog;
  };
  save_as("Save as SVG…", folder.filePath("a.svg"));
  QTRY_VERIFY(QFile::exists(folder.filePath("a.svg")));
  QCOMPARE(problems.count(), 0);
  save_as("Save visible data as CSV…", "/no/such/folder/a.csv");
  QTRY_COMPARE(problems.count(), 1);
}

BATCHSCOPE_TEST(TestPlotFiles)
#include "tst_plot_files.moc"
