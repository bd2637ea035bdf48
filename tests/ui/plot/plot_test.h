#pragma once

#include <QApplication>
#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "ui/plot/linked_plots.h"

namespace batchscope::ui::test {

using Values = std::vector<double>;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline telemetry::StepRecord step_record(std::int64_t step) {
  telemetry::StepRecord record;
  record.step = step;
  record.loss = 1 / static_cast<double>(step);
  return record;
}

inline Values counted(int first, int count) {
  Values values;
  for (int i = 0; i < count; ++i)
    values.push_back(first + i);
  return values;
}

inline std::shared_ptr<PointsCurve> points(const Values& x, const Values& y) {
  return std::make_shared<PointsCurve>(x, y);
}

/// A straight line from (0, 0) to (last, last).
inline std::shared_ptr<PointsCurve> slope(int last) {
  return points(counted(0, last + 1), counted(0, last + 1));
}

inline CurveStyle named(const char* name, int series = 0) {
  CurveStyle style;
  style.name = QString::fromUtf8(name);
  style.series = series;
  return style;
}

/// Plots on the screen, with as many panels as asked for, 800x500 in the light theme.
class Plots : public LinkedPlots {
public:
  explicit Plots(Theme& theme, int panels = 1) : LinkedPlots(theme) {
    for (int i = 0; i < panels; ++i) {
      PanelSpec spec;
      spec.key = QStringLiteral("panel%1").arg(i);
      spec.title = QStringLiteral("Panel %1").arg(i);
      add_panel(spec);
    }
    resize(800, 500);
    set_x_label(QStringLiteral("step"));
  }

  /// Shows it and draws all there is.
  void put_up() {
    show();
    QVERIFY(QTest::qWaitForWindowExposed(this));
    settle();
  }
  void settle() {
    QCoreApplication::processEvents();
    refresh_now();
  }

  /// Where something is, which has to be in view.
  QPoint at(double x, double y, int panel = 0) const {
    const auto place = position(panel, x, y);
    return place ? place->toPoint() : QPoint(-1, -1);
  }
  /// y that a pixel row means, by two places that are in view.
  double y_at(double row, double y0, double y1, int panel = 0) const {
    const double x = visible_range().first;
    const double row0 = position(panel, x, y0)->y();
    const double row1 = position(panel, x, y1)->y();
    return y0 + (row - row0) * (y1 - y0) / (row1 - row0);
  }

  void wheel(const QPoint& at, int notches, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, mapToGlobal(at), {}, QPoint(0, 120 * notches), Qt::NoButton, modifiers, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(this, &event);
    settle();
  }
  void drag(const QPoint& from, const QPoint& to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(this, Qt::LeftButton, modifiers, from);
    for (int part = 1; part <= 4; ++part)
      move(from + (to - from) * part / 4, Qt::LeftButton, modifiers);
    QTest::mouseRelease(this, Qt::LeftButton, modifiers, to);
    settle();
  }
  /// QTest::mouseMove knows no buttons.
  void move(const QPoint& at, Qt::MouseButtons buttons = Qt::NoButton,
            Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QMouseEvent event(QEvent::MouseMove, at, mapToGlobal(at), Qt::NoButton, buttons, modifiers);
    QApplication::sendEvent(this, &event);
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(this, key, modifiers);
    settle();
  }
};

/// Whether a color that is about the same occurs in a part of a picture.
inline int count_color(const QImage& image, const QColor& color, QRect part = {}) {
  if (part.isNull())
    part = image.rect();
  part &= image.rect();
  int count = 0;
  for (int y = part.top(); y <= part.bottom(); ++y)
    for (int x = part.left(); x <= part.right(); ++x) {
      const QColor pixel = image.pixelColor(x, y);
      constexpr int alike = 12;
      count += std::abs(pixel.red() - color.red()) <= alike && std::abs(pixel.green() - color.green()) <= alike &&
               std::abs(pixel.blue() - color.blue()) <= alike;
    }
  return count;
}

} // namespace batchscope::ui::test
