#pragma once

#include <QAction>
#include <QApplication>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "ui/window/main_window.h"
#include "ui/window/pages.h"
#include "ui/workbench_test.h"

namespace batchscope::ui::test {

/// The window with all its pages on a database in a folder of its own, used with mouse and keyboard.
class AllPages {
public:
  AllPages() {
    theme_.apply_to(*qApp);
    window_.show();
    if (!QTest::qWaitForWindowActive(&window_))
      qFatal("the window is not shown");
  }

  std::filesystem::path database() const { return folder_.filePath("runs.db").toStdString(); }
  Workbench& bench() { return bench_; }
  MainWindow& window() { return window_; }
  OpenRun* run() { return bench_.current(); }

  template <typename Shown> Shown& page() { return *window_.findChild<Shown*>(); }
  /// The button that is seen with this text.
  QPushButton* button(const QString& text) {
    for (auto* button : window_.findChildren<QPushButton*>())
      if (button->text() == text && button->isVisible())
        return button;
    return nullptr;
  }
  void click(const QString& text) {
    QTRY_VERIFY2_WITH_TIMEOUT(button(text) && button(text)->isEnabled(), qPrintable(text), patience_ms);
    QTest::mouseClick(button(text), Qt::LeftButton);
  }
  /// Whether a label that is seen has this text in it.
  bool says(const QString& part) {
    const auto labels = window_.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
                       [&](const QLabel* label) { return label->isVisible() && label->text().contains(part); });
  }

  /// Selects a run in the table of the page Runs.
  void select_run(std::int64_t id) {
    window_.show_page("runs");
    auto& table = *page_of("runs").findChild<QTableView*>();
    QModelIndex found;
    const auto listed = [&] {
      for (int row = 0; row < table.model()->rowCount(); ++row)
        if (table.model()->index(row, 0).data().toString() == QString::number(id))
          found = table.model()->index(row, 0);
      return found.isValid();
    };
    QTRY_VERIFY_WITH_TIMEOUT(listed(), patience_ms);
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(found).center());
  }
  /// The command of the shown page in the menu Run, once it is allowed; clicked there.
  void choose_in_menu(const QString& text) {
    QAction* command = command_of_page(text);
    QVERIFY2(command, qPrintable(text));
    QTRY_VERIFY2_WITH_TIMEOUT(command->isEnabled(), qPrintable(command->toolTip()), patience_ms);
    QMenu* menu = run_menu();
    menu->popup(window_.mapToGlobal(QPoint(0, 0)));
    QVERIFY(menu->actions().contains(command));
    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(command).center());
  }
  QAction* command_of_page(const QString& text) {
    for (QAction* action : page_of(window_.shown_page()).page_actions())
      if (action->text() == text)
        return action;
    return nullptr;
  }

private:
  Page& page_of(const QString& key) {
    for (auto* page : window_.findChildren<Page*>())
      if (page->key() == key)
        return *page;
    qFatal("no page %s", qPrintable(key));
  }
  QMenu* run_menu() {
    for (QAction* menu : window_.menuBar()->actions())
      if (menu->text().remove('&') == "Run")
        return menu->menu();
    return nullptr;
  }

  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
  MainWindow window_{theme_, bench_, Settings(folder_.filePath("window.json")), make_pages(bench_)};
};

} // namespace batchscope::ui::test
