#pragma once

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "ui/plot/linked_plots.h"
#include "ui/workbench/workbench.h"
#include "ui/workbench_test.h"

namespace batchscope::ui::test {

/// A page with plots as the window shows it, on an empty database in a folder of its own.
template <typename Shown> class PageHere {
public:
  explicit PageHere(const QSize& size = {1360, 800}) {
    theme_.apply_to(*qApp);
    page_.resize(size);
    page_.show();
    if (!QTest::qWaitForWindowExposed(&page_))
      qFatal("the page is not shown");
  }

  std::filesystem::path database() const { return (folder_.path() + "/runs.db").toStdString(); }
  QString folder() const { return folder_.path(); }
  Theme& theme() { return theme_; }
  Workbench& bench() { return bench_; }
  Shown& page() { return page_; }
  OpenRun* run() { return bench_.current(); }
  LinkedPlots& plots() { return *page_.template findChild<LinkedPlots*>(); }

  template <typename Widget = QPushButton> Widget* named(const char* name) {
    return page_.template findChild<Widget*>(QLatin1String(name));
  }
  QLineEdit* field(const char* name) { return named<QWidget>(name)->template findChild<QLineEdit*>(); }
  QString error_of(const char* name) {
    const auto* label = named<QWidget>(name)->template findChild<QLabel*>("error");
    return label->isVisible() && label->property("tone") == "error" ? label->text() : QString();
  }
  /// All texts that are seen below a widget, a line each.
  QString texts(const char* name) {
    QStringList lines;
    if (const auto* widget = named<QWidget>(name))
      for (const auto* label : widget->template findChildren<QLabel*>())
        if (label->isVisible() && !label->text().isEmpty())
          lines << label->text();
    return lines.join('\n');
  }

  void click(QPushButton* button) {
    QVERIFY(button != nullptr && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void type(const char* name, const QString& text) {
    QLineEdit* edit = field(name);
    QTest::mouseClick(edit, Qt::LeftButton);
    QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(edit, Qt::Key_Delete);
    QTest::keyClicks(edit, text);
  }

  /// Moves the pointer on the height of that share of the plots to where x is, found as a person does: by the
  /// crosshair; the place.
  QPoint point_at(double x, double fraction = 0.1) {
    plots().refresh_now();
    const int y = static_cast<int>(plots().height() * fraction);
    int left = 0, right = plots().width() - 1;
    while (left < right) {
      const int middle = (left + right) / 2;
      move({middle, y});
      const auto here = plots().crosshair();
      if (here ? *here < x : middle < plots().width() / 2)
        left = middle + 1;
      else
        right = middle;
    }
    move({left, y});
    return {left, y};
  }

  /// For a person to look at, where BATCHSCOPE_PICTURES names a folder.
  void keep_picture(const QString& name) {
    const QString folder = qEnvironmentVariable("BATCHSCOPE_PICTURES");
    if (folder.isEmpty())
      return;
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      theme_.set_mode(mode);
      for (int round = 0; round < 3; ++round) // texts, what they make of the layout, and what is drawn
        QCoreApplication::processEvents();
      if (plots().isVisible())
        plots().refresh_now();
      page_.grab().save(QString("%1/%2-%3-%4-%5x.png")
                            .arg(folder, page_.key(), name, mode == Theme::Mode::dark ? "dark" : "light")
                            .arg(page_.devicePixelRatioF()));
    }
    theme_.set_mode(Theme::Mode::light);
  }

protected:
  void move(const QPoint& to) {
    QTest::mouseMove(&plots(), to);
    QCoreApplication::processEvents();
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
  Shown page_{bench_};
};

} // namespace batchscope::ui::test
