#include <cmath>

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include "test_program.h"
#include "ui/theme/shipped_font.h"
#include "ui/theme/theme.h"

using namespace batchscope::ui;

namespace {

double luminance(const QColor& color) {
  const auto part = [](double value) {
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
}

/// As the Web Content Accessibility Guidelines define it: 1 to 21.
double contrast(const QColor& one, const QColor& other) {
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

/// Far apart enough to be told from each other side by side.
double distance(const QColor& one, const QColor& other) {
  return std::hypot(one.red() - other.red(), one.green() - other.green(), one.blue() - other.blue());
}

/// The colour of the icon where it is drawn most; invalid where hardly anything is drawn.
QColor ink(const QPixmap& pixmap) {
  const QImage image = pixmap.toImage();
  QColor most(0, 0, 0, 100);
  bool found = false;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (const QColor color = image.pixelColor(x, y); color.alpha() > most.alpha()) {
        most = color;
        found = true;
      }
    }
  }
  most.setAlpha(255);
  return found ? most : QColor();
}

} // namespace

class ThemeTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    QTest::failOnWarning(QRegularExpression("parse|style ?sheet", QRegularExpression::CaseInsensitiveOption));
    theme_.apply_to(*qApp);
  }

  void digitsHaveOneWidthWithoutAFontFeature() {
    QCOMPARE(QFontInfo(QApplication::font()).family(), QString("Roboto Condensed"));
    for (const bool bold : {false, true}) {
      QFont font = QApplication::font();
      font.setBold(bold);
      const QFontMetricsF metrics(font);
      for (char digit = '0'; digit <= '9'; ++digit)
        QCOMPARE(metrics.horizontalAdvance(QLatin1Char(digit)), metrics.horizontalAdvance(QLatin1Char('0')));
    }
  }

  void rowsStayAsHighAsInTheDesktopsFont() {
    for (const int size : {8, 9, 10, 12, 20}) {
      const QFont system("DejaVu Sans", size);
      const QFont shipped = shipped_font(system);
      QVERIFY(QFontInfo(shipped).family() != QFontInfo(system).family());
      QVERIFY(std::abs(QFontMetricsF(shipped).height() / QFontMetricsF(system).height() - 1) < 0.1);
    }
  }

  void textCanBeRead_data() {
    QTest::addColumn<int>("mode");
    QTest::newRow("light") << static_cast<int>(Theme::Mode::light);
    QTest::newRow("dark") << static_cast<int>(Theme::Mode::dark);
  }
  void textCanBeRead() {
    QFETCH(int, mode);
    theme_.set_mode(static_cast<Theme::Mode>(mode));
    QCOMPARE(theme_.dark(), theme_.mode() == Theme::Mode::dark);
    const auto readable = [this](Role text, Role ground) {
      const double value = contrast(theme_.color(text), theme_.color(ground));
      if (value < 4.5)
        qWarning("role %d on %d: %.2f", static_cast<int>(text), static_cast<int>(ground), value);
      return value >= 4.5;
    };
    for (const Role ground : {Role::window, Role::card, Role::chosen}) {
      for (const Role text : {Role::text, Role::dimmed, Role::accent, Role::error, Role::good, Role::warning})
        QVERIFY(readable(text, ground));
    }
    QVERIFY(readable(Role::on_accent, Role::accent));
    QVERIFY(readable(Role::text, Role::on_error));
    QVERIFY(readable(Role::error, Role::on_error));
    const QPalette palette = QApplication::palette();
    QCOMPARE(palette.color(QPalette::Window), theme_.color(Role::window));
    QVERIFY(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)) >= 4.5);
  }

  void coloursOfSeriesDiffer_data() { textCanBeRead_data(); }
  void coloursOfSeriesDiffer() {
    QFETCH(int, mode);
    theme_.set_mode(static_cast<Theme::Mode>(mode));
    for (int one = 0; one < 6; ++one) {
      QVERIFY(theme_.dashes(one).isEmpty());
      QVERIFY(distance(theme_.series(one), theme_.color(Role::card)) > 80);
      for (int other = 0; other < one; ++other)
        QVERIFY2(distance(theme_.series(one), theme_.series(other)) > 40,
                 qPrintable(QString("%1 %2").arg(one).arg(other)));
    }
    // From the seventh on the colours come again, told apart by their dashes.
    QCOMPARE(theme_.series(6), theme_.series(0));
    QVERIFY(!theme_.dashes(6).isEmpty());
    QVERIFY(theme_.dashes(12) != theme_.dashes(6));
    QVERIFY(theme_.series(1'000'003).isValid());
  }

  void saysWhenColoursChange() {
    theme_.set_mode(Theme::Mode::light);
    QSignalSpy changed(&theme_, &Theme::changed);
    theme_.set_mode(Theme::Mode::light);
    QCOMPARE(changed.count(), 0);
    theme_.set_mode(Theme::Mode::dark);
    QCOMPARE(changed.count(), 1);
    QVERIFY(!qApp->styleSheet().contains('@'));
    QVERIFY(qApp->styleSheet().contains(theme_.color(Role::card).name()));
  }

  void followsTheDesktopsPalette() {
    // No portal answers here.
    theme_.set_mode(Theme::Mode::system);
    QPalette desktop(Qt::black);
    QApplication::setPalette(desktop);
    QVERIFY(theme_.dark());
    QCOMPARE(QApplication::palette().color(QPalette::Window), theme_.color(Role::window));
    QApplication::setPalette(QPalette(Qt::white));
    QVERIFY(!theme_.dark());
    // What a person chose counts more.
    theme_.set_mode(Theme::Mode::light);
    QApplication::setPalette(desktop);
    QVERIFY(!theme_.dark());
    QCOMPARE(QApplication::palette().color(QPalette::Window), theme_.color(Role::window));
    theme_.set_mode(Theme::Mode::system);
    QVERIFY(theme_.dark());
  }

  void drawsEveryIconInTheColourOfTheMoment() {
    theme_.set_mode(Theme::Mode::light);
    const QStringList needed{"runs",  "new-run", "find",    "live",  "schedule", "play", "pause",
                             "step",  "stop",    "warning", "close", "search",   "undo", "redo",
                             "trash", "note",    "rename",  "copy",  "export",   "check"};
    for (const QString& name : needed) {
      const QIcon icon = theme_.icon(name);
      QVERIFY2(QFile::exists(":/batchscope/icons/" + name + ".svg"), qPrintable(name));
      QCOMPARE(ink(icon.pixmap(QSize(20, 20), 2)), theme_.color(Role::text));
      QCOMPARE(ink(icon.pixmap(QSize(20, 20), 2, QIcon::Normal, QIcon::On)), theme_.color(Role::accent));
    }
    // One that was handed out before follows.
    const QIcon icon = theme_.icon("runs");
    theme_.set_mode(Theme::Mode::dark);
    QCOMPARE(ink(icon.pixmap(QSize(20, 20), 2)), theme_.color(Role::text));
  }

  void drawsIconsAtEveryScale_data() {
    QTest::addColumn<qreal>("scale");
    for (const qreal scale : {1.0, 1.5, 2.0})
      QTest::addRow("%.1f", scale) << scale;
  }
  void drawsIconsAtEveryScale() {
    QFETCH(qreal, scale);
    const QPixmap pixmap = theme_.icon("find").pixmap(QSize(16, 16), scale);
    QCOMPARE(pixmap.size(), QSize(16, 16) * scale);
    QCOMPARE(pixmap.devicePixelRatio(), scale);
    QVERIFY(ink(pixmap).isValid());
  }

  void sizesFollowTheFont() {
    const QFont before = QApplication::font();
    const int small = Theme::lines(4);
    QSignalSpy changed(&theme_, &Theme::changed);
    QFont large = before;
    large.setPointSizeF(before.pointSizeF() * 2);
    QApplication::setFont(large);
    QVERIFY(std::abs(Theme::lines(4) - 2 * small) <= 6);
    QVERIFY(changed.count() > 0);
    QApplication::setFont(before);
    QCOMPARE(Theme::lines(4), small);
    QCOMPARE(Theme::lines(0), 0);
  }

private:
  Theme theme_;
};

/// Without a session bus: the desktop this runs on has no say.
static int leave_the_session(int, char**) {
  qunsetenv("DBUS_SESSION_BUS_ADDRESS");
  qunsetenv("XDG_RUNTIME_DIR");
  return -1;
}

BATCHSCOPE_TEST(ThemeTest, leave_the_session)
#include "tst_theme.moc"
