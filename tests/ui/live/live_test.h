#pragma once

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "../run/workbench_test.h"
#include "ui/live/live_page.h"

namespace batchscope::ui::test {

/// The page as the window shows it, on an empty database in a folder of its own.
class LiveHere {
public:
  LiveHere() {
    theme_.apply_to(*qApp);
    page_.resize(1440, 880);
    page_.show();
    if (!QTest::qWaitForWindowExposed(&page_))
      qFatal("the page is not shown");
  }

  std::filesystem::path database() const { return (folder_.path() + "/runs.db").toStdString(); }
  Theme& theme() { return theme_; }
  Workbench& bench() { return bench_; }
  LivePage& page() { return page_; }
  OpenRun* run() { return bench_.current(); }
  LinkedPlots& plots() { return *page_.findChild<LinkedPlots*>(); }
  QTableView& table() { return *page_.findChild<QTableView*>("events"); }

  /// The button that is seen with this text.
  QPushButton* button(const QString& text) {
    for (auto* button : page_.findChildren<QPushButton*>()) {
      if (button->text() == text && button->isVisible())
        return button;
    }
    return nullptr;
  }

  /// All texts that are seen below a widget, a line each.
  QString texts(const char* name) {
    QStringList lines;
    if (const auto* widget = page_.findChild<QWidget*>(name)) {
      for (const auto* label : widget->findChildren<QLabel*>()) {
        if (label->isVisible() && !label->text().isEmpty())
          lines += label->text();
      }
    }
    return lines.join('\n');
  }

  /// Moves the pointer to where x is, by what the crosshair says, on the height of that share of the plots; the place.
  QPoint point_at(double x, double share = 0.1) {
    LinkedPlots& plots = this->plots();
    plots.refresh_now();
    const int y = static_cast<int>(plots.height() * share);
    int left = 0, right = plots.width() - 1;
    while (left < right) {
      const int middle = (left + right) / 2;
      QTest::mouseMove(&plots, {middle, y});
      QCoreApplication::processEvents();
      const auto here = plots.crosshair();
      if (here ? *here < x : middle < plots.width() / 2)
        left = middle + 1;
      else
        right = middle;
    }
    QTest::mouseMove(&plots, {left, y});
    QCoreApplication::processEvents();
    return {left, y};
  }

  QAction* action(const QString& text) {
    for (QAction* action : page_.page_actions()) {
      if (action->text() == text)
        return action;
    }
    return nullptr;
  }

  /// For a person to look at, where BATCHSCOPE_PICTURES names a folder.
  void keep_picture(const QString& name) {
    const QString folder = qEnvironmentVariable("BATCHSCOPE_PICTURES");
    if (folder.isEmpty())
      return;
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      theme_.set_mode(mode);
      QCoreApplication::processEvents();
      plots().refresh_now();
      const QString scale = QString::number(page_.devicePixelRatioF());
      page_.grab().save(
          QString("%1/%2-%3-%4x.png").arg(folder, name, mode == Theme::Mode::dark ? "dark" : "light", scale));
    }
    theme_.set_mode(Theme::Mode::light);
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
  LivePage page_{bench_};
};

} // namespace batchscope::ui::test
