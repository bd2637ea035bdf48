#include "plot_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The plots paint all of their ground themselves.
class TestPlotGround : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }
  void every_edge_is_covered();

private:
  Theme theme_;
};

void TestPlotGround::every_edge_is_covered() {
  Plots plots(theme_, 2);
  plots.add_curve(0, slope(100), named("slope"));
  plots.put_up();
  // Sizes whose halves and thirds fall between pixels, too.
  for (const QSize& size : {QSize(800, 500), QSize(801, 501), QSize(640, 407)}) {
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      theme_.set_mode(mode);
      plots.resize(size);
      plots.settle();
      const QImage image = plots.grab().toImage();
      const QRgb ground = theme_.color(Role::card).rgb();
      for (int x = 0; x < image.width(); ++x) {
        QCOMPARE(image.pixel(x, 0), ground);
        QCOMPARE(image.pixel(x, image.height() - 1), ground);
      }
      for (int y = 0; y < image.height(); ++y) {
        QCOMPARE(image.pixel(0, y), ground);
        QCOMPARE(image.pixel(image.width() - 1, y), ground);
      }
    }
  }
}

BATCHSCOPE_TEST(TestPlotGround)
#include "tst_plot_ground.moc"
